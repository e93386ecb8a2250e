import { stakesOfRestore } from './closing/stakes.ts';
import { restoreBackupByHand } from './fallback/restoring.ts';
import { lazyMachine } from './lazy-machine.ts';
import { afterRestore } from './phases/after-restore.ts';
import { keepBefore, safetyBackup } from './phases/before.ts';
import { chooseBackup } from './phases/choose.ts';
import { confirm } from './phases/confirm.ts';
import { ending, phases } from './phases/phase.ts';
import { preflight } from './phases/preflight.ts';
import { RESTORE_FOREVER, restore } from './phases/restore.ts';

/**
 * Restore a backup into the instance that it was made of. The order is the safety: what is bound and what the
 * data says is kept before, the present state is backed up, the name is typed after the last change of the
 * facts, and the run closes when no follow-up is open.
 */
export const restoreBackupMachine = lazyMachine({
  id: 'restore-backup',
  version: '2',
  initial: 'preflight',
  states: phases({
    preflight: preflight({ tolerant: true, restores: true, onDone: 'choose' }),
    choose: chooseBackup({ onDone: 'before' }),
    before: keepBefore({ withRecord: true, onDone: 'safeguard' }),
    safeguard: safetyBackup({ onDone: 'confirm' }),
    confirm: confirm({
      order: ({ choose, run }) => `restore backup ${choose.backup?.id} into ${run.instance}`,
      stakes: stakesOfRestore,
      onDone: 'restore',
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
      again: 'confirm',
      fallback: restoreBackupByHand,
      onDone: 'available',
    }),
    ...afterRestore({
      runbook: 'restore-backup',
      mayBeUnsaid: true,
      byHand:
        'Write down: which backup was restored, the ids of the restore and of the fresh backup, when the last application ran again, and what was lost.',
    }),
    done: ending('closed: restored, and no follow-up is open'),
    unproven: ending('closed without proof of the recovery'),
    stopped: ending('stopped'),
  }),
});
