import { lookAfter } from './recovery/after.ts';
import { keepBefore, readRecord } from './recovery/before.ts';
import { check } from './recovery/check.ts';
import { chooseBackup } from './recovery/choose-backup.ts';
import { confirmation } from './recovery/confirm.ts';
import { startingContext } from './recovery/context.ts';
import { failOrDoubt } from './recovery/failing.ts';
import { freshBackup, freshCard } from './recovery/fresh.ts';
import { owing } from './recovery/owing.ts';
import { rebinding } from './recovery/rebind.ts';
import { recording } from './recovery/record.ts';
import { RESTORE_FOREVER, restoreTask } from './recovery/restore-task.ts';
import { safetyBackup } from './recovery/safety.ts';
import { recovery } from './recovery/setup.ts';

/**
 * Restore a backup into the instance that it was made of. The order is the safety: what is bound and what the data says is kept before, the
 * present state is backed up, the name is typed after the last change of the facts, and the run closes when nothing is owed.
 */
export const restoreBackupMachine = recovery.createMachine({
  id: 'restore-backup',
  version: '1',
  context: ({ input }) => startingContext(input),
  initial: 'checking',
  states: {
    ...check({ tolerant: true, restores: true, next: 'listingBackups' }),
    ...chooseBackup({ next: 'readingRecord' }),
    ...readRecord({ state: 'readingRecord', step: 'before', next: 'countingBefore' }),
    ...keepBefore({ next: 'offeringSafety' }),
    ...safetyBackup({ next: 'refreshing' }),
    ...confirmation({
      order: ({ chosen, instance }) => `restore backup ${chosen?.id} into ${instance}`,
      next: 'restoring',
    }),
    restoring: recovery.createStateConfig({
      tags: ['destructive'],
      meta: {
        step: 'restore',
        title: 'asking for the restore',
        slice: 'execute',
        calls: [
          { method: 'GET', path: '/restores', what: 'what is there before' },
          {
            method: 'POST',
            path: '/backups/:id/restore',
            what: 'one restore of the chosen backup',
            needs: 'the name was typed, and nothing has changed since',
            forever: RESTORE_FOREVER,
          },
        ],
        wayBack: 'restore the backup of the present state, if one was taken',
      },
      invoke: {
        id: 'restore',
        src: 'restoreBackup',
        input: ({ context }) => ({
          intent: `restore-${context.restore.intents}`,
          backup: context.chosen?.id ?? 0,
        }),
        onDone: {
          target: 'weighingRestore',
          actions: {
            type: 'keepTriggered',
            params: ({ event }) => ({ task: 'restore' as const, output: event.output }),
          },
        },
        onError: failOrDoubt('restoreInDoubt', 'restoreFailed'),
      },
    }),
    ...restoreTask({ again: 'refreshing', next: 'countingAfter', mayBeUnsaid: true }),
    ...lookAfter({ next: 'weighingOwed' }),
    ...owing({ next: 'recording', fresh: 'takingFresh', card: 'renewingCard' }),
    ...rebinding,
    ...freshBackup({ next: 'weighingOwed' }),
    ...freshCard({ next: 'weighingOwed' }),
    ...recording({ runbook: 'restore-backup' }),
  },
});
