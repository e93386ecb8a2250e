import * as z from 'zod';
import { isRecovered } from '../closing/evaluate.ts';
import { currentFollowUpsFallback, followUpsFallback } from '../fallback/follow-ups.ts';
import { Reconciliation } from '../parts/recovery-data.ts';
import { changed } from '../setup.ts';
import { NO_STOP } from './asking.ts';
import { available } from './available.ts';
import { backup } from './backup.ts';
import { renewCard } from './card.ts';
import { followUps } from './follow-ups.ts';
import { when } from './guards.ts';
import { type Phase, phase } from './phase.ts';
import { recordRecovery } from './record.ts';
import { task } from './task.ts';

interface AfterRestore {
  readonly runbook: string;
  /** Where the data was restored to; the run's own instance without it. */
  readonly on?: 'target' | undefined;
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
  return {
    available: available({ on, by: 'restore', mayBeUnsaid, onDone: 'count' }),
    count: countAfter({ on, onDone: 'followUps' }),
    followUps: followUps({
      title: on === undefined ? 'bind the applications again' : 'bind the applications to it',
      restored: true,
      ways: { 'fresh-backup': 'fresh', 'renew-card': 'renewCard' },
      fallback: followUpsFallback,
      onDone: 'record',
    }),
    fresh: freshBackup({ on, onDone: 'followUps' }),
    renewCard: renewCard({ on, onDone: 'followUps' }),
    record: recordRecovery({
      runbook,
      both: on !== undefined,
      byHand,
      onDone: [{ guard: when('the recovery is shown', isRecovered), target: 'done' }, { target: 'unproven' }],
    }),
  };
}

/** A backup of the restored data: the backups from before the restore hold other data. */
function freshBackup({ on, onDone }: { readonly on?: 'target' | undefined; readonly onDone: string }): Phase {
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

export const CountSlice = () => z.object({ counted: Reconciliation().optional() });

interface Count {
  readonly on?: 'target' | undefined;
  readonly onDone: string;
}

/** What the data says of itself after the restore. */
function countAfter({ on, onDone }: Count): Phase {
  const head = {
    title: 'count the restored data',
    like: 'count',
    slice: 'rebind' as const,
    tags: ['sent'] as const,
    onDone,
  };
  return phase(head, (step) =>
    task('counting', {
      verb: 'reconcile',
      id: 'countAfter',
      title: 'querying the restored data for its newest record',
      does: ['the reconciliation command of the config, when there is one'],
      input: () => ({ when: 'after' as const, on }),
      keep: (context, counted) => changed(context, 'count', { counted }),
      next: 'over',
      failed: {
        step,
        title: 'the restored data could not be queried',
        next: 'over',
        ways: {
          retry: 'runs the reconciliation command again',
          skip: 'what was lost is then measured by the time of the backup only',
          markDone: 'what did you find in the data?',
          stop: NO_STOP,
        },
      },
    }),
  );
}
