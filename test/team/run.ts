import { parseArgs } from 'node:util';
import { builtProduct } from '../bench-kit/product.ts';
import { seedOf, spread } from '../crash/draw.ts';
import { randomFrom } from '../random.ts';
import { CASES, nameOf } from './cases.ts';
import { LEASE_MS, type Outcome, tryCase } from './trial.ts';

/*
 * `npm run test:team -- [--sample N] [--seed S] [--only TEXT] [--list]`: two people on two machines with one
 * PostgreSQL. One of them, or the database, is hit in every state of a call, and the other one goes on. Exit
 * code 1 when a promise was broken.
 */
const { values } = parseArgs({
  options: {
    sample: { type: 'string' },
    seed: { type: 'string', default: '1' },
    /** Only cases with this in their name. */
    only: { type: 'string', default: '' },
    list: { type: 'boolean', default: false },
  },
});

const wanted = CASES.filter((one) => nameOf(one).includes(values.only));
const draw = randomFrom(seedOf(Number(values.seed), 'which cases'));
const cases = spread(wanted, Number(values.sample ?? wanted.length), draw);
/** Each has two servers of its own, and waits most of its time. */
const AT_ONCE = 2;

if (values.list) for (const one of cases) process.stdout.write(`${nameOf(one)}\n`);
else process.exitCode = await all();

async function all(): Promise<number> {
  const product = builtProduct({ cheapVault: true, leaseMs: LEASE_MS });
  const outcomes: Outcome[] = [];
  const queue = [...cases];
  const work = async () => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      const outcome = await tryCase(product, next);
      outcomes.push(outcome);
      const { name, hit, handOverMs, ms, problems } = outcome;
      const over = handOverMs === undefined ? '' : `, handed over after ${Math.round(handOverMs)} ms`;
      process.stderr.write(
        `${problems.length === 0 ? 'ok' : 'BROKEN'} ${name} [${hit ? 'hit' : 'over before'}${over}, ${Math.round(ms)} ms]\n`,
      );
      for (const problem of problems) process.stderr.write(`  ${problem}\n`);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  const broken = outcomes.filter(({ problems }) => problems.length > 0);
  const overs = outcomes.flatMap(({ handOverMs }) => handOverMs ?? []).sort((a, b) => a - b);
  const hits = outcomes.filter(({ hit }) => hit).length;
  process.stdout.write(
    `${outcomes.length} cases, ${hits} hit, ${broken.length} broken; lease ${LEASE_MS} ms; ` +
      `handed over after ${Math.round(overs[overs.length >> 1] ?? 0)} ms at the median, ${Math.round(overs.at(-1) ?? 0)} ms at most\n`,
  );
  for (const { name } of broken) process.stdout.write(`again: npm run test:team -- --only '${name}'\n`);
  return broken.length === 0 ? 0 : 1;
}
