import { isRecovered } from './closing/evaluate.ts';
import { stakesOfRestore } from './closing/stakes.ts';
import { restoreBackupByHand } from './fallback/restoring.ts';
import { lazyMachine } from './lazy-machine.ts';
import { countAfter, freshBackup } from './phases/after-restore.ts';
import { availableOrUnsaid } from './phases/available.ts';
import { readRecordAndKeepBefore, safetyBackup } from './phases/before.ts';
import { renewCard } from './phases/card.ts';
import { chooseBackup } from './phases/choose.ts';
import { confirm } from './phases/confirm.ts';
import { followUpsOfRestore } from './phases/follow-ups.ts';
import { when } from './phases/guards.ts';
import { ending, phases } from './phases/phase.ts';
import { preflight } from './phases/preflight.ts';
import { recordRecovery } from './phases/record.ts';
import { RESTORE_FOREVER, restore } from './phases/restore.ts';

/**
 * Its order is its safety: bindings and counts are kept first, the present state is backed up, the name is
 * typed after the last change of the facts, and the run closes when no follow-up is open.
 */
export const restoreBackupMachine = lazyMachine({
  id: 'restore-backup',
  version: '2',
  initial: 'preflight',
  states: phases({
    preflight: preflight({ tolerant: true, restores: true, exits: { done: 'choose', stop: 'stopped' } }),
    choose: chooseBackup({ exits: { done: 'before', stop: 'stopped' } }),
    before: readRecordAndKeepBefore({ exits: { done: 'safeguard', stop: 'stopped' } }),
    safeguard: safetyBackup({ exits: { done: 'confirm', stop: 'stopped' } }),
    confirm: confirm({
      order: ({ choose, run }) => `restore backup ${choose.backup?.id} into ${run.instance}`,
      stakes: stakesOfRestore,
      exits: { done: 'restore', stop: 'stopped' },
    }),
    restore: restore({
      verb: 'restoreBackup',
      title: 'asking for the restore',
      input: ({ choose }) => ({ backup: choose.backup?.id ?? 0 }),
      call: {
        path: '/backups/:id/restore',
        what: 'one restore of the chosen backup',
        needs: 'the name was typed, and nothing has changed since',
        forever: RESTORE_FOREVER,
      },
      wayBack: 'restore the backup of the present state, if one was taken',
      fallback: restoreBackupByHand,
      exits: { done: 'available', again: 'confirm', stop: 'stopped' },
    }),
    available: availableOrUnsaid({ exits: { done: 'count' } }),
    count: countAfter({ exits: { done: 'followUps' } }),
    followUps: followUpsOfRestore({
      title: 'bind the applications again',
      exits: { done: 'record', 'fresh-backup': 'fresh', 'renew-card': 'renewCard' },
    }),
    fresh: freshBackup({ exits: { done: 'followUps' } }),
    renewCard: renewCard({ exits: { done: 'followUps' } }),
    record: recordRecovery({
      runbook: 'restore-backup',
      byHand:
        'Write down: which backup was restored, the ids of the restore and of the fresh backup, when the last application ran again, and what was lost.',
      exits: {
        done: [{ guard: when('the recovery is shown', isRecovered), target: 'done' }, { target: 'unproven' }],
      },
    }),
    done: ending('closed: restored, and no follow-up is open'),
    unproven: ending('closed without proof of the recovery'),
    stopped: ending('stopped'),
  }),
});
