import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { quickFolder } from './quick-folder.ts';
import { type Count, countTests, type FileTime } from './verify-report.ts';

/*
 * `npm run verify`: everything a change must pass, whatever became of the step before.
 * Ends with a line `N passed, N failed`, where each test counts, and each other step as one; exits with 1
 * when anything failed.
 */
interface Step {
  readonly name: string;
  readonly npm: readonly string[];
  /** Seconds after which it counts as hanging and is ended. */
  readonly limit: number;
  /** For a step of tests: where their own report goes, so that each of them counts. */
  readonly report?: string;
}

/** This many of the slowest test files are listed at the end. */
const SLOWEST = 10;

/** This many last lines of a failure are repeated at the end. */
const LAST_LINES = 15;

const scratch = mkdtempSync(join(tmpdir(), 'lifeboat-verify-'));

/**
 * One stage after another. The rows of a stage run side by side, where they leave one another a core for most
 * of the time; what builds again stands in one row.
 */
const STAGES: readonly (readonly (readonly Step[])[])[] = [
  [[testStep('tests', 'test', 1500)]],
  [[testStep('long tests', 'test:long', 3300)]],
  [
    [
      {
        name: 'crashes, a sample',
        npm: ['run', '--silent', 'test:crash', '--', '--sample', '90', '--accidents', '0.25', '--seed', '1'],
        limit: 1200,
      },
    ],
    [
      { name: 'types', npm: ['run', '--silent', 'types'], limit: 240 },
      { name: 'lint', npm: ['run', '--silent', 'lint'], limit: 240 },
      { name: 'dead code', npm: ['run', '--silent', 'dead'], limit: 240 },
      { name: 'fresh docs', npm: ['run', '--silent', 'docs', '--', '--check'], limit: 120 },
    ],
  ],
  [
    [
      {
        name: 'faults, a sample',
        npm: ['run', '--silent', 'test:faults', '--', '--sample', '520', '--seed', '1'],
        limit: 900,
      },
    ],
    [
      {
        name: 'faults on PostgreSQL, a sample',
        npm: ['run', '--silent', 'test:faults', '--', '--store', 'postgres', '--sample', '80', '--seed', '1'],
        limit: 600,
      },
      {
        name: 'drill',
        npm: ['run', '--silent', 'drill', '--', '--auto', '--report', join(scratch, 'drill')],
        limit: 180,
      },
      { name: 'packages', npm: ['run', '--silent', 'test:packages'], limit: 300 },
    ],
  ],
];

const lines: string[] = [];
const slowest: FileTime[] = [];
const total = { passed: 0, failed: 0 };
try {
  for (const rows of STAGES) {
    await Promise.all(
      rows.map(async (steps) => {
        for (const step of steps) await take(step);
      }),
    );
  }
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
const slow = slowest.toSorted((one, other) => other.seconds - one.seconds).slice(0, SLOWEST);
lines.push('', ...slow.map(({ file, seconds }) => `       ${seconds.toFixed(1).padStart(6)} s  ${file}`));
process.stdout.write(`\n${lines.join('\n')}\n\n${total.passed} passed, ${total.failed} failed\n`);
process.exitCode = total.failed === 0 ? 0 : 1;

/** Runs a step and counts it. */
async function take(step: Step): Promise<void> {
  process.stdout.write(`\n--- ${step.name}\n`);
  const began = performance.now();
  const { problem, last } = await run(step);
  const ok = problem === undefined;
  const count = step.report === undefined ? countStep(ok) : countTests(ok, step.report);
  total.passed += count.passed;
  total.failed += count.failed;
  slowest.push(...count.files);
  const verdict = count.failed === 0 ? 'ok    ' : 'FAILED';
  const seconds = ((performance.now() - began) / 1000).toFixed(1).padStart(6);
  const detail =
    step.report !== undefined
      ? `: ${count.passed} passed, ${count.failed} failed, ${count.skipped} skipped`
      : '';
  lines.push(
    `${verdict} ${seconds} s  ${step.name}${detail}${problem === undefined ? '' : ` (${problem})`}`,
    ...(step.report === undefined && !ok ? last : count.names).map((line) => `          ${line}`),
  );
}

function testStep(name: string, script: string, limit: number): Step {
  const report = join(scratch, `${script.replace(':', '-')}.json`);
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
  return { name, npm: ['run', script, '--', ...reporters], limit, report };
}

/**
 * Runs a step to its end, and shows what it prints. `problem` is why it did not go well; `last` its last
 * lines.
 */
async function run({
  npm,
  limit,
}: Step): Promise<{ readonly problem: string | undefined; readonly last: readonly string[] }> {
  const child = spawn('npm', npm, {
    // In a process group of its own, so that a step that hangs is ended with all that it has started.
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, TMPDIR: quickFolder() },
  });
  const last: string[] = [];
  for (const [from, to] of [
    [child.stdout, process.stdout],
    [child.stderr, process.stderr],
  ] as const) {
    createInterface(from).on('line', (line) => {
      to.write(`${line}\n`);
      last.splice(0, last.push(line) > LAST_LINES ? 1 : 0);
    });
  }
  const signal = (name: NodeJS.Signals) => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, name);
    } catch {
      // It has ended by itself.
    }
  };
  let hangs = false;
  const timer = setTimeout(() => {
    hangs = true;
    signal('SIGKILL');
  }, limit * 1000);
  const interrupt = () => {
    signal('SIGKILL');
    process.exitCode = 130;
    // The step beside this one is ended first, too.
    setImmediate(() => process.exit());
  };
  process.once('SIGINT', interrupt).once('SIGTERM', interrupt);
  try {
    const [code, ended] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null];
    if (hangs) return { problem: `ended after ${limit} s`, last };
    return { problem: code === 0 ? undefined : `exit ${code ?? ended}`, last };
  } catch (thrown) {
    return { problem: String(thrown), last };
  } finally {
    clearTimeout(timer);
    process.off('SIGINT', interrupt).off('SIGTERM', interrupt);
  }
}

function countStep(ok: boolean): Count {
  return { passed: ok ? 1 : 0, failed: ok ? 0 : 1, skipped: 0, names: [], files: [] };
}
