import * as z from 'zod';
import { currentFollowUpsFallback } from '../fallback/follow-ups.ts';
import { Reconciliation } from '../parts/recovery-data.ts';
import { changed } from '../setup.ts';
import { NO_STOP } from './asking.ts';
import { backup } from './backup.ts';
import { type Exits, type Phase, phase } from './phase.ts';
import { task } from './task.ts';

/** Earlier backups hold other data. */
export function freshBackup({ on, exits }: { readonly on?: 'target'; readonly exits: Exits }): Phase {
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
    exits,
  });
}

export const CountSlice = () => z.object({ counted: Reconciliation().optional() });

interface Count {
  readonly on?: 'target';
  readonly exits: Exits;
}

const WORDS = {
  counting: {
    title: 'querying the restored data for its newest record',
    does: ['the reconciliation command of the config, when there is one'],
  },
  countingFailed: {
    title: 'the restored data could not be queried',
    ways: {
      retry: 'runs the reconciliation command again',
      skip: 'what was lost is then measured by the time of the backup only',
      markDone: 'what did you find in the data?',
      stop: NO_STOP,
    },
  },
} as const;

export function countAfter({ on, exits }: Count): Phase {
  const head = {
    title: 'count the restored data',
    like: 'count',
    slice: 'rebind' as const,
    tags: ['sent'] as const,
    exits,
  };
  return phase(head, (step) =>
    task('counting', {
      verb: 'reconcile',
      id: 'countAfter',
      ...WORDS.counting,
      input: () => ({ when: 'after' as const, on }),
      keep: (context, counted) => changed(context, 'count', { counted }),
      next: 'over',
      failed: {
        step,
        ...WORDS.countingFailed,
        next: 'over',
        stop: undefined,
      },
    }),
  );
}
