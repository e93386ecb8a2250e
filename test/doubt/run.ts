import process from 'node:process';
import { parseArgs } from 'node:util';
import fc from 'fast-check';
import { history, isTellable } from './generate.ts';
import { judgeOne } from './judge-one.ts';
import { KINDS } from './kinds.ts';

/*
 * `npm run test:doubt -- --histories N --seed S`: decides this many generated histories of a lost request and
 * says how. Ends with 1 at the first decision that is not what really happened, with the history and how to
 * see it again.
 */

const { values } = parseArgs({
  options: { histories: { type: 'string', default: '100000' }, seed: { type: 'string' } },
});
const total = Number(values.histories);
const seed = Number(values.seed ?? Date.now() % 2_147_483_647);
const say = (text: string) => process.stdout.write(`${text}\n`);

say(`${total} histories, seed ${seed}`);
say('kind                            decided: landed  absent    asked   waited before it');
const sum = { landed: 0, absent: 0, ambiguous: 0, waited: 0 };
for (const [at, kind] of KINDS.entries()) {
  const seen = { landed: 0, absent: 0, ambiguous: 0, waited: 0 };
  const share = Math.floor(total / KINDS.length) + (at < total % KINDS.length ? 1 : 0);
  await fc.assert(
    fc.asyncProperty(history.filter(isTellable), async (drawn) => {
      const { verdict, hasWaited } = await judgeOne(kind, drawn);
      seen[verdict] += 1;
      seen.waited += hasWaited ? 1 : 0;
    }),
    { numRuns: share, seed: seed + at },
  );
  for (const key of ['landed', 'absent', 'ambiguous', 'waited'] as const) sum[key] += seen[key];
  say(row(kind.what, seen));
}
say(row('all', sum));
say(`decided wrongly: 0`);

function row(what: string, { landed, absent, ambiguous, waited }: typeof sum): string {
  const numbers = [landed, absent, ambiguous, waited].map((count) => String(count).padStart(9)).join('');
  return `${what.slice(0, 37).padEnd(38)}${numbers}`;
}
