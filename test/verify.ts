import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { createInterface } from 'node:readline';
import type { JsonTestResults } from 'vitest/node';

/*
 * `npm run verify`: everything a change must pass, one step after the other, whatever became of the one before. Ends with a
 * line `N passed, N failed`, where each test counts, and each other step as one; exits with 1 when anything failed.
 */
interface Step {
  readonly name: string;
  readonly npm: readonly string[];
  /** Seconds after which it counts as hanging and is ended. */
  readonly limit: number;
  /** For a step of tests: where their own report goes, so that each of them counts. */
  readonly report?: string;
}

interface Count {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  /** What failed, by name, with the first words of why. */
  readonly names?: readonly string[];
}

/** More than these are to be looked up above. */
const MOST_NAMES = 20;

/** So many first lines of why a test failed stand below its name. */
const REASON_LINES = 5;

/** So many last lines of what failed stand once more at the end. */
const LAST_LINES = 15;

const scratch = mkdtempSync(join(tmpdir(), 'lifeboat-verify-'));

const STEPS: readonly Step[] = [
  testStep('tests', 'test', 900),
  testStep('long tests', 'test:long', 1800),
  {
    name: 'crashes, a sample',
    npm: ['run', '--silent', 'test:crash', '--', '--sample', '180', '--accidents', '0.25', '--seed', '1'],
    limit: 1200,
  },
  {
    name: 'faults, a sample',
    npm: ['run', '--silent', 'test:faults', '--', '--sample', '520', '--seed', '1'],
    limit: 900,
  },
  {
    name: 'faults on PostgreSQL, a sample',
    npm: ['run', '--silent', 'test:faults', '--', '--store', 'postgres', '--sample', '80', '--seed', '1'],
    limit: 600,
  },
  { name: 'types', npm: ['run', '--silent', 'types'], limit: 120 },
  { name: 'lint', npm: ['run', '--silent', 'lint'], limit: 120 },
  { name: 'dead code', npm: ['run', '--silent', 'dead'], limit: 120 },
  { name: 'fresh docs', npm: ['run', '--silent', 'docs', '--', '--check'], limit: 60 },
  {
    name: 'drill',
    npm: ['run', '--silent', 'drill', '--', '--auto', '--report', join(scratch, 'drill')],
    limit: 180,
  },
];

const lines: string[] = [];
const total = { passed: 0, failed: 0 };
try {
  for (const step of STEPS) {
    process.stdout.write(`\n--- ${step.name}\n`);
    const began = performance.now();
    const { problem, last } = await run(step);
    const ok = problem === undefined;
    const count = step.report === undefined ? countStep(ok) : countTests(ok, step.report);
    total.passed += count.passed;
    total.failed += count.failed;
    const verdict = count.failed === 0 ? 'ok    ' : 'FAILED';
    const seconds = ((performance.now() - began) / 1000).toFixed(1).padStart(6);
    const detail =
      step.report !== undefined
        ? `: ${count.passed} passed, ${count.failed} failed, ${count.skipped} skipped`
        : '';
    lines.push(
      `${verdict} ${seconds} s  ${step.name}${detail}${problem === undefined ? '' : ` (${problem})`}`,
      ...(step.report === undefined && !ok ? last : (count.names ?? [])).map((line) => `          ${line}`),
    );
  }
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
process.stdout.write(`\n${lines.join('\n')}\n\n${total.passed} passed, ${total.failed} failed\n`);
process.exitCode = total.failed === 0 ? 0 : 1;

function testStep(name: string, script: string, limit: number): Step {
  const report = join(scratch, `${script.replace(':', '-')}.json`);
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
  return { name, npm: ['run', script, '--', ...reporters], limit, report };
}

/** Runs a step to its end, and shows what it prints. `problem` is why it did not go well; `last` its last lines. */
async function run({
  npm,
  limit,
}: Step): Promise<{ readonly problem: string | undefined; readonly last: readonly string[] }> {
  const child = spawn('npm', npm, {
    // In a process group of its own, so that a step that hangs is ended with all that it has started.
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const last: string[] = [];
  for (const [from, to] of [
    [child.stdout, process.stdout],
    [child.stderr, process.stderr],
  ] as const) {
    from.pipe(to, { end: false });
    createInterface(from).on('line', (line) => void last.splice(0, last.push(line) > LAST_LINES ? 1 : 0));
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
    process.exit(130);
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

/**
 * What the tests' own report says. A file that failed without a failed test (it could not be read, or its set-up broke) counts
 * as one failure; so does a run that failed for no reason that the report knows.
 */
function countTests(ok: boolean, report: string): Count {
  const {
    numPassedTests: passed,
    numPendingTests,
    numTodoTests,
    numFailedTests,
    testResults,
  } = readReport(report);
  const broken = testResults.filter(
    ({ status, assertionResults }) =>
      status === 'failed' && !assertionResults.some((test) => test.status === 'failed'),
  );
  const failed = numFailedTests + broken.length;
  const names = testResults.flatMap(({ name: file, assertionResults }) =>
    assertionResults
      .filter(({ status }) => status === 'failed')
      .map(({ fullName, failureMessages }) => {
        const why = (failureMessages?.[0] ?? '').split('\n').slice(0, REASON_LINES);
        return [`${relative(process.cwd(), file)}: ${fullName}`, ...why].join('\n            ');
      }),
  );
  return {
    passed,
    failed: ok ? failed : Math.max(failed, 1),
    skipped: numPendingTests + numTodoTests,
    names: [...broken.map(({ name }) => relative(process.cwd(), name)), ...names].slice(0, MOST_NAMES),
  };
}

/** The report of Vitest's JSON reporter; one without tests when there is none. */
function readReport(report: string): JsonTestResults {
  const nothing = {
    numPassedTests: 0,
    numFailedTests: 0,
    numPendingTests: 0,
    numTodoTests: 0,
    testResults: [],
  };
  try {
    return { ...nothing, ...JSON.parse(readFileSync(report, 'utf8')) };
  } catch {
    return nothing as unknown as JsonTestResults;
  }
}

function countStep(ok: boolean): Count {
  return { passed: ok ? 1 : 0, failed: ok ? 0 : 1, skipped: 0 };
}
