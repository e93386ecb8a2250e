import { z } from 'zod';
import { Reconciliation } from '../parts/recovery-data.ts';
import { changed } from '../setup.ts';
import { NO_STOP } from './asking.ts';
import { type Phase, phase } from './phase.ts';
import { task } from './task.ts';

export const CountSlice = z.object({ counted: Reconciliation.optional() });

interface Count {
  readonly on?: 'target';
  readonly onDone: string;
}

/** What the data says of itself after the restore. */
export function countAfter({ on, onDone }: Count): Phase {
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
      input: () => ({ when: 'after' as const, ...(on === undefined ? {} : { on }) }),
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
