import fc from 'fast-check';
import { expect, test } from 'vitest';
import { history, isTellable } from '../doubt/generate.ts';
import { judgeOne } from '../doubt/judge-one.ts';
import { KINDS } from '../doubt/kinds.ts';

/* A sample; `npm run test:doubt` runs as many as you ask for, and says how they were decided. */
const HISTORIES = Number(process.env['LIFEBOAT_HISTORIES'] ?? 10_000);

test.for(KINDS)(
  'over generated histories, the outcome of a lost request is decided correctly, or asked: $what',
  { timeout: 3_000_000 },
  async (kind) => {
    const seen = { landed: 0, absent: 0, ambiguous: 0 };
    await fc.assert(
      fc.asyncProperty(history.filter(isTellable), async (one) => {
        seen[(await judgeOne(kind, one)).verdict] += 1;
      }),
      { numRuns: Math.ceil(HISTORIES / KINDS.length) },
    );
    // All three outcomes occur, so the promises above are not empty.
    for (const count of Object.values(seen)) expect(count).toBeGreaterThan(HISTORIES / 250);
  },
);
