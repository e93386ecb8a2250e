import { isRecovered } from '../closing/evaluate.ts';
import { currentFollowUpsFallback, followUpsFallback } from '../fallback/follow-ups.ts';
import { available } from './available.ts';
import { backup } from './backup.ts';
import { renewCard } from './card.ts';
import { countAfter } from './count.ts';
import { followUps } from './follow-ups.ts';
import type { Phase } from './phase.ts';
import { recordRecovery } from './record.ts';

interface AfterRestore {
  readonly runbook: string;
  /** Where the data was restored to; the run's own instance without it. */
  readonly on?: 'target';
  /** Whether the interface may have no call that says how the instance is. */
  readonly mayBeUnsaid?: boolean;
  /** What a person writes down, because nobody else does. */
  readonly byHand: string;
}

/**
 * The phases after any restore, from `available` on: the instance is back, its data is counted, its
 * follow-ups are done or skipped, the record is written. It ends in `done`, or in `unproven` where the run
 * has not shown that everything runs on the restored data.
 */
export function afterRestore({ runbook, on, mayBeUnsaid = false, byHand }: AfterRestore) {
  const side = on === undefined ? {} : { on };
  return {
    available: available({ ...side, by: 'restore', mayBeUnsaid, onDone: 'count' }),
    count: countAfter({ ...side, onDone: 'followUps' }),
    followUps: followUps({
      title: on === undefined ? 'bind the applications again' : 'bind the applications to it',
      restored: true,
      ways: { 'fresh-backup': 'fresh', 'renew-card': 'renewCard' },
      fallback: followUpsFallback,
      onDone: 'record',
    }),
    fresh: freshBackup({ ...side, onDone: 'followUps' }),
    renewCard: renewCard({ ...side, onDone: 'followUps' }),
    record: recordRecovery({
      runbook,
      both: on !== undefined,
      byHand,
      onDone: [{ guard: ({ context }) => isRecovered(context), target: 'done' }, { target: 'unproven' }],
    }),
  };
}

/** A backup of the restored data: the backups from before the restore hold other data. */
function freshBackup({ on, onDone }: { readonly on?: 'target'; readonly onDone: string }): Phase {
  return backup({
    title: 'back up the restored data',
    task: 'fresh',
    what: 'the restored data',
    on,
    slice: 'rebind',
    closes: 'fresh-backup',
    without: { hint: 'until the next scheduled backup the restored data cannot be brought back' },
    needs: 'the restore is done and the instance is available',
    fallback: currentFollowUpsFallback,
    onDone,
  });
}
