import { sourceName } from '../closing/evaluate.ts';
import type { RunContext } from '../context.ts';
import { recoverByHand } from '../fallback/disaster-recovery.ts';
import { type ManualRestore, restoreBackupByHand, restoreToTimeByHand } from '../fallback/restoring.ts';
import type { SingleChange } from '../inputs.ts';
import type { PhaseConfig } from './phase.ts';
import { RESTORE_FOREVER, sendingRestore } from './restore.ts';

const isFor =
  (change: SingleChange['change']) =>
  ({ run: { single } }: RunContext) =>
    single === undefined || single.change === change;

const needs = 'the name was typed, and nothing has changed since';
const wayBack = 'none in this run: only a backup brings the old data back';

/** A run passes the one that its command names. */
export const RESTORING: Readonly<Record<string, PhaseConfig>> = {
  restoringBackup: sendingRestore('restoreBackup', {
    verb: 'restoreBackup',
    title: 'asking for the restore',
    when: isFor('restoreBackup'),
    input: ({ choose }) => ({ backup: choose.backup?.id ?? 0 }),
    call: {
      path: '/backups/:id/restore',
      what: 'one restore of the named backup',
      needs,
      forever: RESTORE_FOREVER,
    },
    wayBack,
  }),
  restoringToTime: sendingRestore('restoreToTime', {
    verb: 'restoreToTime',
    title: 'asking for the restore to the named time',
    when: isFor('restoreToTime'),
    input: ({ choose }) => ({ targetTime: choose.time ?? '' }),
    call: {
      path: '/pitr/restore',
      what: 'one restore to the named time',
      needs,
      forever: `${RESTORE_FOREVER}; what was written after the named time is lost`,
    },
    wayBack,
  }),
  recovering: sendingRestore('performRecovery', {
    verb: 'performRecovery',
    title: 'asking for the recovery',
    when: isFor('performRecovery'),
    input: (context) => ({
      backupGuid: context.source.from?.guid ?? '',
      fingerprint: context.source.from?.fingerprint ?? '',
      source: sourceName(context),
      expectFrom: context.run.single?.expectFrom,
    }),
    call: {
      path: '/disaster-recovery/perform',
      what: 'one recovery of the named backup, with its key',
      needs,
      forever: RESTORE_FOREVER,
    },
    wayBack,
  }),
};

export function singleRestoreByHand({ run: { single } }: RunContext): ManualRestore {
  if (single?.change === 'performRecovery') return recoverByHand;
  return single?.change === 'restoreToTime' ? restoreToTimeByHand : restoreBackupByHand;
}
