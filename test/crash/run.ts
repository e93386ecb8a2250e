import { execFileSync } from 'node:child_process';
import { parseArgs } from 'node:util';
import { copyProduct, type Product } from '../e2e/product.ts';
import { sweep } from './sweep.ts';
import { type Point, runTrial, type Trial } from './trial.ts';

/*
 * `node test/crash/run.ts [--points N] [--seed S]`: kills a rotation at N random instants, at every time it waits for the disk, and
 * at every request that changes something, and counts what the service saw. Exit code 1 when a promise was broken.
 */
const { values } = parseArgs({
  options: { points: { type: 'string', default: '60' }, seed: { type: 'string', default: '1' } },
});

const product = copyProduct({ cheapVault: true });
try {
  const began = performance.now();
  const syncs = await countSyncs(product);
  const more = [...requestPoints(), ...syncs];
  const { trials, spanMs } = await sweep(
    product,
    { points: Number(values.points), seed: Number(values.seed), more },
    tell,
  );
  process.stdout.write(`${tableOf(trials)}\n`);
  process.stdout.write(`an undisturbed rotation takes ${Math.round(spanMs)} ms; seed ${values.seed}; `);
  process.stdout.write(`${Math.round((performance.now() - began) / 1000)} s in all\n`);
  if (trials.some(({ problems }) => problems.length > 0)) process.exitCode = 1;
} finally {
  product.remove();
}

/** PATCH and POST, each with everything that can become of a request whose sender has died. */
function requestPoints(): Point[] {
  return [1, 2].flatMap((nth) =>
    (['done', 'dropped', 'late'] as const).map((then): Point => ({ kind: 'request', nth, then })),
  );
}

/** Every time that a rotation waits for the disk; none without strace. */
async function countSyncs(rotating: Product): Promise<Point[]> {
  try {
    execFileSync('strace', ['-f', '-e', 'trace=none', 'true'], { stdio: 'ignore' });
  } catch {
    process.stderr.write('strace is not there or may not trace: no kill at the syncs of the journal\n');
    return [];
  }
  let last = 0;
  for (let step = 32; step >= 1; ) {
    const { hit } = await runTrial(rotating, { kind: 'sync', nth: last + step }, () => 1, 0);
    if (hit) last += step;
    else step /= 2;
  }
  return Array.from({ length: Math.floor(last) }, (_, index): Point => ({ kind: 'sync', nth: index + 1 }));
}

function tell(trial: Trial): void {
  const { point, where, kills, resumes, problems } = trial;
  const at = Object.values(point).map((value) => (typeof value === 'number' ? Math.round(value) : value));
  process.stderr.write(`${at.join(' ').padEnd(20)} ${where.padEnd(44)} kills ${kills}, resumes ${resumes}\n`);
  for (const problem of problems) process.stderr.write(`  BROKEN: ${problem}\n`);
}

function tableOf(trials: readonly Trial[]): string {
  const row = (name: string, some: readonly Trial[]) => {
    const sum = (count: (trial: Trial) => number | boolean) =>
      some.reduce((total, trial) => total + Number(count(trial)), 0);
    const cells = [
      some.length,
      sum(({ hit }) => hit),
      sum(({ kills }) => kills),
      sum(({ resumes }) => resumes),
      sum(({ doubled }) => doubled),
      sum(({ lostKey }) => lostKey),
      sum(({ problems }) => problems.length > 0),
    ];
    return `${name.padEnd(10)}${cells.map((cell) => String(cell).padStart(9)).join('')}`;
  };
  const titles = ['tried', 'hit', 'kills', 'resumes', 'doubles', 'keys lost', 'broken'];
  const kinds = ['instant', 'sync', 'request'] as const;
  return [
    `${'points'.padEnd(10)}${titles.map((title) => title.padStart(9)).join('')}`,
    ...kinds.map((kind) =>
      row(
        kind,
        trials.filter(({ point }) => point.kind === kind),
      ),
    ),
    row('all', trials),
    `moments met: ${new Set(trials.map(({ where }) => where)).size}`,
  ].join('\n');
}
