import { connect } from 'node:net';
import { setTimeout as rest } from 'node:timers/promises';
import type { Check } from '../../../machines/parts/plan.ts';
import type { OutsideVerb } from '../../../machines/verbs.ts';
import { comparedAge, comparedCount, fitsComparison } from '../../base/comparison.ts';
import { failureOf, LifeboatError } from '../../base/errors.ts';
import { formatSeconds } from '../../base/format.ts';
import { msOf } from '../../base/instant.ts';
import { redactOutput } from '../../base/redact.ts';
import { childEnvironment, runProgram, runShell, STDERR_LIMIT } from '../../base/run-shell.ts';
import { tcpAddress } from '../../base/tcp-address.ts';
import { show } from '../../base/text.ts';
import { timeLimit } from '../../base/time-limit.ts';
import { type ActivityContext, type ActivityOf, because, ok, readVerb, repeatableVerb } from '../activity.ts';
import type { OutsideDeps } from '../deps.ts';
import type { Measure } from '../reconcile.ts';
import { readMeasure } from '../reconcile.ts';
import { runCommand, runOnce } from './run-command.ts';

/** The limit of one question if the step has none. Milliseconds. */
const USUAL_MS = 30_000;
const PAUSE_MS = 2_000;
/** Bytes to find a text in; a longer page is cut. */
const BODY_LIMIT = 64 * 1024;
const SHOWN = 200;

/**
 * `check.failed`: the answer does not fit; `check.unasked`: there was none. Asked again until it fits, for as
 * long as `within` says, or as often as `retries` says. The question must change nothing, so it is asked
 * again after a crash.
 */
function askOutside(deps: OutsideDeps): ActivityOf<'askOutside'> {
  return {
    kind: 'read',
    run: async ({ check, timeoutMs = USUAL_MS, retries = 0 }, context) => {
      const untilMs = context.now().getTime() + (check.within ?? 0);
      for (let asked = 0; ; asked += 1) {
        try {
          return ok({ found: await askOnce(check, deps, context, timeoutMs) });
        } catch (thrown) {
          context.signal.throwIfAborted();
          const isOver = check.within === undefined ? asked >= retries : context.now().getTime() >= untilMs;
          if (isOver) return because(thrown);
          context.report({ kind: 'task', status: failureOf(thrown).shortMessage, what: 'the check' });
          await rest(PAUSE_MS, undefined, { signal: context.signal });
        }
      }
    },
  };
}

function askOnce(
  check: Check,
  deps: OutsideDeps,
  context: ActivityContext,
  timeoutMs: number,
): Promise<string> {
  const { http, sql, reconcile, tcp, command } = check;
  if (http !== undefined) return askHttp(http, check, context, timeoutMs);
  if (tcp !== undefined) return askTcp(tcp, context, timeoutMs);
  if (sql !== undefined)
    return askProgram(['psql', '-X', '-A', '-t', '-q', '-c', sql], check, { deps, context, timeoutMs });
  if (reconcile === true) return askReconcile(check, deps, context);
  return askProgram(command ?? [], check, { deps, context, timeoutMs });
}

async function askHttp(
  address: string,
  { expect = {} }: Check,
  { signal }: ActivityContext,
  timeoutMs: number,
): Promise<string> {
  const stop = AbortSignal.any([signal, timeLimit(timeoutMs)]);
  const answer = await fetch(address, { redirect: 'manual', signal: stop }).catch((cause: unknown) => {
    signal.throwIfAborted();
    throw unasked(`${show(address, SHOWN)} does not answer: ${reasonOf(cause)}`, cause);
  });
  const text = await beginningOf(answer);
  const { status } = answer;
  const wanted = expect.status === undefined ? undefined : [expect.status].flat();
  if (wanted === undefined ? !answer.ok : !wanted.includes(status))
    throw failed(
      `${show(address, SHOWN)} answers ${status}, and ${wanted?.join(' or ') ?? '200 to 299'} is wanted`,
    );
  if (expect.text !== undefined && !text.includes(expect.text))
    throw failed(`the answer of ${show(address, SHOWN)} does not contain ${show(expect.text, 100)}`);
  return `${show(address, SHOWN)} answers ${status}`;
}

async function beginningOf({ body }: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  if (body === null) return '';
  for await (const chunk of body) {
    chunks.push(chunk);
    size += chunk.length;
    // Leaving the loop cancels the rest of the answer.
    if (size >= BODY_LIMIT) break;
  }
  return Buffer.concat(chunks).subarray(0, BODY_LIMIT).toString('utf8');
}

function askTcp(place: string, { signal }: ActivityContext, timeoutMs: number): Promise<string> {
  const address = tcpAddress(place);
  if (address === undefined) return Promise.reject(unasked(`${show(place, SHOWN)} is not HOST:PORT`));
  return new Promise((resolve, reject) => {
    const socket = connect({ ...address, signal: AbortSignal.any([signal, timeLimit(timeoutMs)]) });
    socket.once('connect', () => {
      socket.destroy();
      resolve(`${show(place, SHOWN)} takes a connection`);
    });
    socket.once('error', (cause) => {
      reject(failed(`${show(place, SHOWN)} takes no connection: ${reasonOf(cause)}`));
    });
  });
}

interface Asking {
  readonly deps: OutsideDeps;
  readonly context: ActivityContext;
  readonly timeoutMs: number;
}

async function askProgram(
  argv: readonly string[],
  { sql, expect = {} }: Check,
  { deps, context, timeoutMs }: Asking,
): Promise<string> {
  const [program = ''] = argv;
  const ended = await runProgram(argv, {
    env: environmentOf(deps, context),
    timeoutMs,
    signal: context.signal,
  });
  if (ended.exit === 'ENOENT') throw unasked(`there is no program ${show(program, 100)}`);
  const wanted = expect.exit ?? 0;
  const words = show(redactOutput(ended.stderr, STDERR_LIMIT).trim(), SHOWN);
  if (ended.exit !== wanted)
    throw (sql === undefined ? failed : unasked)(
      `${show(program, 100)} ended with ${ended.exit}${words === '' ? '' : `: ${words}`}`,
    );
  if (expect.text !== undefined && !ended.stdout.includes(expect.text))
    throw failed(`the output of ${show(program, 100)} does not contain ${show(expect.text, 100)}`);
  return measured(ended.stdout, expect, context, `${show(program, 100)} ended with ${wanted}`);
}

async function askReconcile(check: Check, deps: OutsideDeps, context: ActivityContext): Promise<string> {
  const { reconcile } = deps;
  if (reconcile === undefined)
    throw unasked(`${show(deps.instance, 80)} has no \`reconcile\` in lifeboat.yaml`);
  const { signal } = context;
  const ended = await runShell(reconcile.command, {
    env: environmentOf(deps, context, { LIFEBOAT_INSTANCE: deps.instance, LIFEBOAT_WHEN: 'after' }),
    timeoutMs: reconcile.timeout,
    signal,
  });
  if (ended.exit !== 0) throw unasked(`the reconciliation command ended with ${ended.exit}`);
  return measured(ended.stdout, check.expect ?? {}, context, 'the data was counted');
}

function measured(
  output: string,
  expect: NonNullable<Check['expect']>,
  { now }: ActivityContext,
  otherwise: string,
): string {
  const measure = readMeasure(output);
  const misfit = misfitOf(expect, measure, now().getTime());
  if (misfit !== undefined) throw failed(misfit);
  if (expect.rows === undefined && expect.age === undefined) return otherwise;
  const { count, newest } = measure;
  return [
    ...(count === undefined ? [] : [`${count} records`]),
    ...(newest === undefined ? [] : [`newest of ${newest}`]),
  ].join(', ');
}

function environmentOf(
  { hideEnv }: OutsideDeps,
  { runId }: ActivityContext,
  more: Readonly<Record<string, string>> = {},
): NodeJS.ProcessEnv {
  return childEnvironment(hideEnv, { LIFEBOAT_RUN: runId, ...more });
}

function reasonOf(cause: unknown): string {
  const inner = cause instanceof Error && cause.cause instanceof Error ? cause.cause : cause;
  if (inner instanceof Error && inner.name === 'TimeoutError') return 'no answer in time';
  return show(inner instanceof Error ? inner.message : String(inner), SHOWN);
}

const HINTS = ['nothing was changed', 'to ask again: try again'];

function failed(shortMessage: string): LifeboatError {
  return new LifeboatError('check.failed', shortMessage, { hints: HINTS });
}

function unasked(shortMessage: string, cause?: unknown): LifeboatError {
  return new LifeboatError('check.unasked', shortMessage, { hints: HINTS, cause });
}

/** In words; undefined if everything fits. An answer without a number shows nothing: it never fits. Pure. */
function misfitOf(
  { rows, age }: NonNullable<Check['expect']>,
  { count, newest }: Measure,
  nowMs: number,
): string | undefined {
  if (rows !== undefined) {
    const wanted = comparedCount(rows);
    if (wanted === undefined) return `${rows} is no comparison with a number`;
    if (count === undefined) return `it gave no number, and ${rows} are wanted`;
    if (!fitsComparison(count, wanted)) return `there are ${count}, and ${rows} are wanted`;
  }
  if (age === undefined) return undefined;
  const wanted = comparedAge(age);
  if (wanted === undefined) return `${age} is no comparison with a duration`;
  if (newest === undefined) return `it gave no time, and an age of ${age} is wanted`;
  const found = nowMs - msOf(newest);
  if (fitsComparison(found, wanted)) return undefined;
  return `the newest is ${formatSeconds(Math.round(found / 1000))} old, and ${age} is wanted`;
}

type OutsideActivities = { readonly [V in OutsideVerb]: ActivityOf<V> };

/** For a plan's steps that run no runbook. */
export function outsideActivities(deps: OutsideDeps): OutsideActivities {
  return {
    askOutside: askOutside(deps),
    runCommand: runCommand(deps),
    runOnce: runOnce(deps),
    tellPeople: tellPeople(deps),
    waitFor: waitFor(),
  };
}

/** `notify.untold`: no target took it. Sent again after a crash. */
function tellPeople({ tell }: OutsideDeps): ActivityOf<'tellPeople'> {
  return repeatableVerb(async ({ to, text }, { signal }) => {
    const told = await tell(to, text, signal);
    if (told.length > 0) return ok({ told });
    throw new LifeboatError('notify.untold', 'no target took the notification', {
      hints: ['try them one by one: lifeboat notify test'],
    });
  });
}

/** The longest pause of a wait, so that it notices a clock that was set. */
const LOOK_MS = 10_000;

/** Since the run came to this step; after a crash, only the rest of the time. */
function waitFor(): ActivityOf<'waitFor'> {
  return readVerb(async ({ ms }, { arrivedAt, now, report, signal }) => {
    const untilMs = (arrivedAt === undefined ? now().getTime() : msOf(arrivedAt)) + ms;
    report({ kind: 'wait', untilMs, what: 'the time of the step' });
    for (;;) {
      const left = untilMs - now().getTime();
      if (left <= 0) return ok({});
      await rest(Math.min(left, LOOK_MS), undefined, { signal });
    }
  });
}
