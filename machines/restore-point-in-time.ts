import { lookAfter } from './recovery/after.ts';
import { keepBefore, readRecord } from './recovery/before.ts';
import { check } from './recovery/check.ts';
import { chooseTime, rereadRange } from './recovery/choose-time.ts';
import { confirmation } from './recovery/confirm.ts';
import { type RecoveryContext, startingContext } from './recovery/context.ts';
import { failOrDoubt } from './recovery/failing.ts';
import { freshBackup, freshCard } from './recovery/fresh.ts';
import { owing } from './recovery/owing.ts';
import { rebinding } from './recovery/rebind.ts';
import { recording } from './recovery/record.ts';
import { RESTORE_FOREVER, restoreTask } from './recovery/restore-task.ts';
import { safetyBackup } from './recovery/safety.ts';
import { recovery } from './recovery/setup.ts';

/**
 * Bring an instance back to a point in time. The range is read when the time is chosen and again when the name was typed; afterwards the data
 * has a new timeline, so a fresh backup is owed.
 */
export const restorePointInTimeMachine = recovery.createMachine({
  id: 'restore-point-in-time',
  version: '1',
  context: ({ input }) => startingContext(input),
  initial: 'checking',
  states: {
    ...check({ tolerant: true, restores: true, next: 'readingRange' }),
    ...chooseTime({ next: 'weighingBefore' }),
    weighingBefore: recovery.createStateConfig({
      meta: { step: 'before', title: 'whether it was looked at already' },
      always: [{ guard: 'isLookedAt', target: 'refreshing' }, { target: 'readingRecord' }],
    }),
    ...readRecord({ state: 'readingRecord', step: 'before', next: 'countingBefore' }),
    ...keepBefore({ next: 'offeringSafety' }),
    ...safetyBackup({ next: 'refreshing' }),
    ...confirmation({ order, next: 'rereadingRange' }),
    ...rereadRange({ next: 'restoring' }),
    restoring: recovery.createStateConfig({
      tags: ['destructive'],
      meta: {
        step: 'restore',
        title: 'asking for the restore to the chosen time',
        slice: 'execute',
        calls: [
          { method: 'GET', path: '/restores', what: 'what is there before' },
          {
            method: 'POST',
            path: '/pitr/restore',
            what: 'one restore to the chosen time',
            needs: 'the name was typed, nothing has changed since, and the time can still be reached',
            forever: `${RESTORE_FOREVER}; what was written after the chosen time is lost`,
          },
        ],
        wayBack: 'restore the backup of the present state, if one was taken',
      },
      invoke: {
        id: 'restore',
        src: 'restoreToTime',
        input: ({ context }) => ({
          intent: `restore-${context.restore.intents}`,
          targetTime: context.time ?? '',
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
    ...restoreTask({ again: 'refreshing', next: 'countingAfter' }),
    ...lookAfter({ next: 'weighingOwed' }),
    ...owing({ next: 'recording', fresh: 'takingFresh', card: 'renewingCard' }),
    ...rebinding,
    ...freshBackup({ next: 'weighingOwed' }),
    ...freshCard({ next: 'weighingOwed' }),
    ...recording({ runbook: 'restore-point-in-time' }),
  },
});

/** What is confirmed: the time, both edges of what can be reached, and what is lost. */
function order({ instance, time, range }: RecoveryContext): string {
  return `bring ${instance} back to ${time} (reachable: ${range?.start} to ${range?.end}) and lose everything after it`;
}
