import { isRecovered } from './closing/evaluate.ts';
import { begun } from './context.ts';
import { followUpsFallback } from './fallback/follow-ups.ts';
import { backupInFallback } from './fallback/restore-backup.ts';
import { available } from './phases/available.ts';
import { keepBefore } from './phases/before.ts';
import { renewCard } from './phases/card.ts';
import { chooseBackup } from './phases/choose-backup.ts';
import { confirm } from './phases/confirm.ts';
import { countAfter } from './phases/count.ts';
import { followUps } from './phases/follow-ups.ts';
import { freshBackup } from './phases/fresh.ts';
import { ending, phases } from './phases/phase.ts';
import { preflight } from './phases/preflight.ts';
import { recordRecovery } from './phases/record.ts';
import { RESTORE_FOREVER, restore } from './phases/restore.ts';
import { safetyBackup } from './phases/safeguard.ts';
import { runbook } from './setup.ts';

/**
 * Restore a backup into the instance that it was made of. The order is the safety: what is bound and what the
 * data says is kept before, the present state is backed up, the name is typed after the last change of the
 * facts, and the run closes when no follow-up is open.
 */
export const restoreBackupMachine = runbook.createMachine({
  id: 'restore-backup',
  version: '2',
  context: begun,
  initial: 'preflight',
  states: phases({
    preflight: preflight({ tolerant: true, restores: true, onDone: 'choose' }),
    choose: chooseBackup({ onDone: 'before' }),
    before: keepBefore({ withRecord: true, onDone: 'safeguard' }),
    safeguard: safetyBackup({ onDone: 'confirm' }),
    confirm: confirm({
      order: ({ choose, run }) => `restore backup ${choose.backup?.id} into ${run.instance}`,
      onDone: 'restore',
    }),
    restore: restore({
      verb: 'restoreBackup',
      title: 'asking for the restore',
      input: ({ choose }) => ({ backup: choose.backup?.id ?? 0 }),
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
      again: 'confirm',
      fallback: backupInFallback,
      onDone: 'available',
    }),
    available: available({ by: 'restore', mayBeUnsaid: true, onDone: 'count' }),
    count: countAfter({ onDone: 'followUps' }),
    followUps: followUps({
      title: 'bind the applications again',
      restored: true,
      ways: { 'fresh-backup': 'fresh', 'renew-card': 'renewCard' },
      fallback: followUpsFallback,
      onDone: 'record',
    }),
    fresh: freshBackup({ onDone: 'followUps' }),
    renewCard: renewCard({ onDone: 'followUps' }),
    record: recordRecovery({
      runbook: 'restore-backup',
      byHand:
        'Write down: which backup was restored, the ids of the restore and of the fresh backup, when the last application ran again, and what was lost.',
      onDone: [{ guard: ({ context }) => isRecovered(context), target: 'done' }, { target: 'unproven' }],
    }),
    done: ending('closed: restored, and no follow-up is open'),
    unproven: ending('closed without proof of the recovery'),
    stopped: ending('stopped'),
  }),
});
