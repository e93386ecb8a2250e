import { isLookedAt, isRecovered } from './closing/evaluate.ts';
import { stakesOfRestore } from './closing/stakes.ts';
import type { RunContext } from './context.ts';
import { restoreToTimeByHand } from './fallback/restoring.ts';
import { lazyMachine } from './lazy-machine.ts';
import { countAfter, freshBackup } from './phases/after-restore.ts';
import { available } from './phases/available.ts';
import { readRecordAndKeepBefore, safetyBackup } from './phases/before.ts';
import { renewCard } from './phases/card.ts';
import { chooseTime, rereadRange } from './phases/choose.ts';
import { confirm } from './phases/confirm.ts';
import { followUpsOfRestore } from './phases/follow-ups.ts';
import { when } from './phases/guards.ts';
import { ending, phases } from './phases/phase.ts';
import { preflight } from './phases/preflight.ts';
import { recordRecovery } from './phases/record.ts';
import { RESTORE_FOREVER, restore } from './phases/restore.ts';

/**
 * The range is read when the time is chosen and again after the name was typed. The restored data has a new
 * timeline, so a fresh backup is one of the follow-ups.
 */
export const restorePointInTimeMachine = lazyMachine({
  id: 'restore-point-in-time',
  version: '2',
  initial: 'preflight',
  states: phases({
    preflight: preflight({ tolerant: true, restores: true, exits: { done: 'choose', stop: 'stopped' } }),
    choose: chooseTime({
      exits: {
        done: [
          { guard: when('its data was counted before', isLookedAt), target: 'confirm' },
          { target: 'before' },
        ],
        stop: 'stopped',
      },
    }),
    before: readRecordAndKeepBefore({ exits: { done: 'safeguard', stop: 'stopped' } }),
    safeguard: safetyBackup({ exits: { done: 'confirm', stop: 'stopped' } }),
    confirm: confirm({
      order,
      stakes: stakesOfRestore,
      last: rereadRange,
      exits: { done: 'restore', readAgain: 'choose', otherTime: 'choose:time', stop: 'stopped' },
    }),
    restore: restore({
      verb: 'restoreToTime',
      title: 'asking for the restore to the chosen time',
      input: ({ choose }) => ({ targetTime: choose.time ?? '' }),
      call: {
        path: '/pitr/restore',
        what: 'one restore to the chosen time',
        needs: 'the name was typed, nothing has changed since, and the time can still be reached',
        forever: `${RESTORE_FOREVER}; what was written after the chosen time is lost`,
      },
      wayBack: 'restore the backup of the present state, if one was taken',
      fallback: restoreToTimeByHand,
      exits: { done: 'available', again: 'confirm', stop: 'stopped' },
    }),
    available: available({ by: 'restore', exits: { done: 'count' } }),
    count: countAfter({ exits: { done: 'followUps' } }),
    followUps: followUpsOfRestore({
      title: 'bind the applications again',
      exits: { done: 'record', 'fresh-backup': 'fresh', 'renew-card': 'renewCard' },
    }),
    fresh: freshBackup({ exits: { done: 'followUps' } }),
    renewCard: renewCard({ exits: { done: 'followUps' } }),
    record: recordRecovery({
      runbook: 'restore-point-in-time',
      byHand:
        'Write down: the point in time, restored_from of the restore (it should be the same), the ids of the restore and of the fresh backup, and when the last application ran again.',
      exits: {
        done: [{ guard: when('the recovery is shown', isRecovered), target: 'done' }, { target: 'unproven' }],
      },
    }),
    done: ending('closed: restored, and no follow-up is open'),
    unproven: ending('closed without proof of the recovery'),
    stopped: ending('stopped'),
  }),
});

function order({ run, choose: { time, range } }: RunContext): string {
  return `bring ${run.instance} back to ${time} (reachable: ${range?.start} to ${range?.end}) and lose everything after it`;
}
