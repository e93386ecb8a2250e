import { setTimeout as rest } from 'node:timers/promises';
import { LifeboatError } from '../../base/errors.ts';
import type { Failure } from '../../base/failure.ts';
import { msOf } from '../../base/instant.ts';
import { redactOutput } from '../../base/redact.ts';
import {
  childEnvironment,
  type Ended,
  onPath,
  runProgram,
  STDERR_LIMIT,
  STDOUT_LIMIT,
} from '../../base/run-shell.ts';
import { show } from '../../base/text.ts';
import { type ActivityContext, type ActivityOf, no, ok } from '../activity.ts';
import type { OutsideDeps } from '../deps.ts';

const SHOWN = 300;
/** This long after its time limit, which includes the time to end a program, no program still runs. */
const AFTER_LIMIT_MS = 15_000;
const PAUSE_MS = 1_000;
/** For the `landed` program. */
const LANDED_MS = 30_000;

/**
 * Also runs again after a crash. `command.failed`: it did not end with 0, and may have done a part of its
 * work; `command.not-run`: it could not be started.
 */
export function runCommand(deps: OutsideDeps): ActivityOf<'runCommand'> {
  return {
    kind: 'repeatable',
    run: async ({ argv, timeoutMs, retries = 0 }, context) => {
      for (let run = 0; ; run += 1) {
        const ended = await start(argv, { deps, context, timeoutMs });
        if (ended.exit === 0) return ok({ found: foundBy(argv, ended) });
        if (run >= retries) return { ok: false, failure: failureOfEnd(argv, ended, timeoutMs) };
        await rest(PAUSE_MS * 2 ** Math.min(run, 5), undefined, { signal: context.signal });
      }
    },
  };
}

/**
 * Before and after, the `landed` program says whether it has happened: 0 if so, 1 if not. If it has happened
 * before, it is not run (`command.already`). If the process dies, the program may go on for as long as its
 * time limit; until then its absence cannot be proven.
 */
export function runOnce(deps: OutsideDeps): ActivityOf<'runOnce'> {
  return {
    kind: 'once',
    prepare: async ({ argv, landed }, context) => {
      const before = await askLanded(landed, deps, context);
      if (before === 'not-landed') return ok({ before });
      if (before === 'landed')
        return no('command.already', `${lineOf(landed)} says that it has happened already`, {
          hints: ['it was not run now', `if that is right, say that it was done outside: ${lineOf(argv)}`],
        });
      return { ok: false, failure: before };
    },
    send: async ({ argv, timeoutMs }, context) => {
      context.mayLeave();
      const ended = await start(argv, { deps, context, timeoutMs });
      if (ended.exit === 0) return { sent: 'landed', output: { landed: true, adopted: false } };
      const failure = failureOfEnd(argv, ended, timeoutMs);
      return ended.exit === 'ENOENT' ? { sent: 'absent', failure } : { sent: 'unknown', failure };
    },
    judge: async ({ landed, timeoutMs }, { armedAt, lost }, context) => {
      const answer = await askLanded(landed, deps, context);
      if (answer === 'landed')
        return {
          verdict: 'landed',
          output: { landed: true, adopted: true },
          evidence: { landed: [...landed], exit: 0 },
        };
      if (answer !== 'not-landed') return { verdict: 'ambiguous', failure: inDoubt(answer) };
      // A program that ended in this process is over; one of a process that died may still run.
      const untilMs = onceOverMs(msOf(armedAt), timeoutMs);
      if (lost !== undefined || context.now().getTime() >= untilMs)
        return { verdict: 'absent', evidence: { landed: [...landed], exit: 1 } };
      return { verdict: 'wait', ms: PAUSE_MS, untilMs, shows: 'nothing' };
    },
  };
}

/** The program is over then, even if the process that began it died. Milliseconds. */
export function onceOverMs(armedMs: number, timeoutMs: number): number {
  return armedMs + timeoutMs + AFTER_LIMIT_MS;
}

/** A failure if it says neither. */
async function askLanded(
  argv: readonly string[],
  deps: OutsideDeps,
  context: ActivityContext,
): Promise<'landed' | 'not-landed' | Failure> {
  const ended = await start(argv, { deps, context, timeoutMs: LANDED_MS });
  if (ended.exit === 0) return 'landed';
  if (ended.exit === 1) return 'not-landed';
  return failureOfEnd(argv, ended, LANDED_MS);
}

function inDoubt(failure: Failure): Failure {
  return {
    ...failure,
    code: 'doubt.unreadable',
    shortMessage: `whether the command has happened is not known: ${failure.shortMessage}`,
    hints: ['it is not run again until that is known', ...failure.hints],
  };
}

interface Starting {
  readonly deps: OutsideDeps;
  readonly context: ActivityContext;
  readonly timeoutMs: number;
}

/** If the system has `timeout`, that ends the program at its limit even if this process dies before. */
function start(argv: readonly string[], { deps, context, timeoutMs }: Starting): Promise<Ended> {
  const env = childEnvironment(deps.hideEnv, {
    LIFEBOAT_RUN: context.runId,
    LIFEBOAT_INSTANCE: deps.instance,
  });
  const [program = ''] = argv;
  const limiter = onPath('timeout', env);
  const isThere = onPath(program, env) !== undefined;
  const line =
    limiter === undefined || !isThere
      ? argv
      : [limiter, '--kill-after=5', `${Math.ceil(timeoutMs / 1000) + 5}`, ...argv];
  return runProgram(line, { env, timeoutMs, signal: context.signal });
}

function failureOfEnd(argv: readonly string[], { exit, stderr, stdout }: Ended, timeoutMs: number): Failure {
  const words = show(
    (stderr.trim() === '' ? redactOutput(stdout, STDOUT_LIMIT) : redactOutput(stderr, STDERR_LIMIT))
      .trim()
      .slice(-SHOWN),
    SHOWN,
  );
  if (exit === 'ENOENT')
    return new LifeboatError('command.not-run', `there is no program ${show(argv[0] ?? '', 100)}`, {
      hints: ['nothing was run', 'the plan of this run is pinned: install the program, then try again'],
    }).toFailure();
  const how =
    exit === 'timeout' ? `took longer than ${timeoutMs / 1000} s, and was ended` : `ended with ${exit}`;
  return new LifeboatError('command.failed', `${lineOf(argv)} ${how}`, {
    hints: ['it may have done a part of its work: look before it runs again'],
    ...(words === '' ? {} : { evidence: { said: words } }),
  }).toFailure();
}

function foundBy(argv: readonly string[], { stdout }: Ended): string {
  const said = show(redactOutput(stdout, STDOUT_LIMIT).trim(), SHOWN);
  return said === '' ? `${lineOf(argv)} ended with 0` : said;
}

function lineOf(argv: readonly string[]): string {
  return show(argv.join(' '), 120);
}
