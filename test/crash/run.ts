import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { builtProduct } from '../bench-kit/product.ts';
import { hasTerminal } from '../bench-kit/pseudo-terminal.ts';
import { closeDatabases, LEASE_MS } from './database.ts';
import { planOf, type Wish } from './plan.ts';
import { KINDS, type Kind } from './points.ts';
import { canTrace } from './strace.ts';
import { type Swept, sweep } from './sweep.ts';
import { figuresOf, tableOf } from './table.ts';
import type { Trial } from './trial.ts';

/*
 * Kills real processes of every flow at every point of their way, resumes them, and compares with the run
 * that nobody disturbed:
 *
 *     --points N     this many points, evenly spread over all there are (default 1200; `all` is every one)
 *     --sample N     this many points of everything, each flow in one revision, and a few drawn
 *                    moments: for every change
 *     --instants N   this many drawn instants for each flow, over its revisions and variants (default 8);
 *                    alone, no other points
 *     --long         5000 points, 500 drawn instants for each flow, every pair
 *     --flow NAMES   only flows and revisions with one of these in their name (rotate-key/62,update); --kind
 *                    KIND only this kind of point, --what TEXT only points with this in their
 *                    description (`dropped POST`)
 *     --pairs        a kill on the way to a reconciliation, with each kill of the process that reconciles
 *     --pty          everything on a full screen in a pseudo-terminal (else a fifth of it); --headless
 *                    nothing
 *     --store ENGINE only sqlite or postgres (default: both)
 *     --accidents P  after this part of the kills (0 to 1), an accident befalls the store: its log is lost,
 *                    yesterday's is put back, a place is gone
 *     --seed S       what is drawn follows from it (default 1)
 *     --most N       at most this many of all that is asked for, evenly spread
 *     --only POINT   one point, by the name that was printed; --list prints all names and does nothing else
 *     --json FILE    writes the figures
 *
 * The first Ctrl-C ends it after the trials that are under way, with the figures so far. Exit code 1 when a
 * promise was broken, or a trial could not be made.
 */
const { values } = parseArgs({
  options: {
    points: { type: 'string' },
    sample: { type: 'string' },
    instants: { type: 'string' },
    long: { type: 'boolean', default: false },
    flow: { type: 'string' },
    kind: { type: 'string' },
    what: { type: 'string' },
    pairs: { type: 'boolean', default: false },
    pty: { type: 'boolean', default: false },
    headless: { type: 'boolean', default: false },
    store: { type: 'string', default: 'both' },
    accidents: { type: 'string', default: '0' },
    seed: { type: 'string', default: '1' },
    most: { type: 'string' },
    only: { type: 'string' },
    list: { type: 'boolean', default: false },
    json: { type: 'string' },
  },
});

/** What a sample is for is said by its points; a moment is slow, and mostly falls where a point is. */
const SAMPLED_MOMENTS = 16;

const product = builtProduct({ cheapVault: true, leaseMs: LEASE_MS });
const began = performance.now();
const stop = new AbortController();
process.once('SIGINT', () => stop.abort());
try {
  if (!canTrace()) say('strace is not there or may not trace: no kill at the calls of the system');
  const tasks = await planOf(product, wishOf(), say);
  if (values.list) for (const { point } of tasks) process.stdout.write(`${point.name}  ${point.what}\n`);
  else if (tasks.length === 0) throw new Error('there is no such point');
  else report(await sweep(product, tasks, seedNumber(), tell, stop.signal));
} finally {
  await closeDatabases();
}

function wishOf(): Wish {
  const { kind, what, flow, only, pairs, pty, headless, long, instants } = values;
  if (kind !== undefined && !KINDS.includes(kind as Kind))
    throw new Error(`the kinds are ${KINDS.join(', ')}`);
  const all = values.points === 'all' || only !== undefined || values.list;
  const sample = values.sample === undefined ? undefined : Number(values.sample);
  // Pairs or instants alone, when nothing says how many of the rest are wanted.
  const fixed = values.points ?? (long ? '5000' : pairs || instants !== undefined ? '0' : '1200');
  const drawn = long || only !== undefined ? 500 : sample !== undefined ? 1 : fixed === '0' ? 0 : 8;
  return {
    points: all ? Number.POSITIVE_INFINITY : (sample ?? Number(fixed)),
    instants: instants === undefined ? drawn : Number(instants),
    drawn: sample === undefined ? undefined : SAMPLED_MOMENTS,
    seed: seedNumber(),
    flow,
    store: storeWanted(),
    accidents: Number(values.accidents),
    kind: kind as Kind | undefined,
    what,
    pairs: pairs || long,
    dress: pty ? 'screen' : headless || !hasTerminal() ? 'headless' : 'both',
    alternating: sample !== undefined,
    most: values.most === undefined ? undefined : Number(values.most),
    only,
  };
}

function tell(trial: Trial): void {
  const { point, where, hit, kills, resumes, asked, ms, problems } = trial;
  const after = `kills ${kills}, resumes ${resumes}, asked ${asked}, ${Math.round(ms)} ms`;
  say(`${point.name}  ${point.what}  [${hit ? where : 'over before'}]  ${after}`);
  for (const problem of problems) say(`  BROKEN: ${problem}`);
}

function report({ trials, unmade }: Swept): void {
  const seconds = Math.round((performance.now() - began) / 1000);
  const broken = trials.filter(({ problems }) => problems.length > 0);
  process.stdout.write(`${tableOf(trials)}\nseed ${values.seed}; ${seconds} s in all\n`);
  process.stdout.write(`again: npm run test:crash -- ${process.argv.slice(2).join(' ')}\n`);
  for (const { point, problems } of broken) {
    for (const problem of problems) process.stdout.write(`${point.what}: ${problem}\n`);
    process.stdout.write(`broken: npm run test:crash -- --seed ${values.seed} --only '${point.name}'\n`);
  }
  for (const { point, why } of unmade)
    process.stdout.write(`not made: ${point.name}  ${point.what}: ${why}\n`);
  if (values.json !== undefined)
    writeFileSync(values.json, `${JSON.stringify(asJson(trials, seconds), null, 2)}\n`);
  if (broken.length > 0 || unmade.length > 0) process.exitCode = 1;
}

function asJson(trials: readonly Trial[], seconds: number) {
  const groups = Map.groupBy(trials, ({ scene, point }) => `${scene.name} ${point.kind}`);
  return {
    seed: seedNumber(),
    arguments: process.argv.slice(2),
    seconds,
    all: figuresOf(trials),
    groups: [...groups].map(([name, some]) => ({ name, ...figuresOf(some) })),
    broken: trials.flatMap(({ point, problems }) =>
      problems.length > 0 ? [{ point: point.name, problems }] : [],
    ),
  };
}

function storeWanted(): Wish['store'] {
  const { store } = values;
  if (store === 'both' || store === 'sqlite' || store === 'postgres') return store;
  throw new Error('the engines are sqlite, postgres, both');
}

function seedNumber(): number {
  return Number(values.seed);
}

function say(line: string): void {
  process.stderr.write(`${line}\n`);
}
