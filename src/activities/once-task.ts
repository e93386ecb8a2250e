import { setTimeout as rest } from 'node:timers/promises';
import type { z } from 'zod';
import type { Triggered } from '../../machines/parts/task-data.ts';
import { LifeboatError } from '../base/errors.ts';
import { instantOf, msOf } from '../base/instant.ts';
import type { Answer, SendOutcome } from '../service/client.ts';
import type { Json } from '../store/journal.ts';
import {
  type ActivityContext,
  type ActivityResult,
  because,
  type InDoubt,
  ok,
  type Sent,
} from './activity.ts';
import { isUnderWay } from './baseline.ts';
import type { ActivityDeps } from './deps.ts';
import { type Look, type Task, TaskBaseline } from './evaluate-tasks.ts';

/** Prepares the send of a task: the present list, and a token in memory. */
export async function baselineOf(
  { service }: Pick<ActivityDeps, 'service'>,
  list: 'backups' | 'restores',
  signal: AbortSignal,
): Promise<ActivityResult<z.output<typeof TaskBaseline>>> {
  try {
    const { value, skew, unread = [] }: Answer<readonly Task[]> = await service[list](signal);
    await service.ready(signal);
    return ok({
      tasks: [
        ...value.map(({ id, triggered_at }) => [id, instantOf(triggered_at) ?? null] as const),
        ...unread.flatMap(({ id, atMs }) => (id === undefined ? [] : [[id, atMs ?? null] as const])),
      ].map(([id, at]): [number, number | null] => [id, at]),
      underWay: value.filter((task) => isUnderWay({ status: task.status.toLowerCase() })).map(({ id }) => id),
      skew: skew ?? null,
    });
  } catch (thrown) {
    return because(thrown);
  }
}

/**
 * If a task was accepted without a new id, the list decides: `service.no-id` if no id came, `service.old-id`
 * if `baseline` already lists it, so that it says nothing about this request.
 */
export function sentTask(
  sent: SendOutcome<{ readonly id?: number | undefined }>,
  what: string,
  baseline: Json,
): Sent<Triggered> {
  const unaccepted = sentUnaccepted(sent);
  if (unaccepted !== undefined) return unaccepted;
  const id = sent.outcome === 'accepted' ? sent.value.id : undefined;
  if (id === undefined)
    return unnamed('service.no-id', `the service accepted the request and named no ${what}`);
  if (!TaskBaseline.parse(baseline).tasks.some(([before]) => before === id))
    return { sent: 'landed', output: { landed: true, id, adopted: false } };
  return unnamed(
    'service.old-id',
    `the service accepted the request and named ${what} ${id}, which was there before it`,
  );
}

function unnamed(code: string, message: string): Sent<never> {
  return { sent: 'unknown', failure: new LifeboatError(code, message).toFailure() };
}

/** Undefined for an accepted send. */
export function sentUnaccepted(
  sent: SendOutcome<unknown>,
): Exclude<Sent<never>, { sent: 'landed' }> | undefined {
  if (sent.outcome === 'accepted') return undefined;
  const { failure } = sent;
  if (sent.outcome === 'unknown') return { sent: 'unknown', failure };
  if (sent.outcome === 'never-sent') return { sent: 'absent', failure };
  return { sent: 'absent', failure, refused: true, ...againAfter(sent) };
}

/** Rejects if the baseline in memory is not from `baselineOf`. */
export async function lookAt<Row extends Task>(
  list: () => Promise<Answer<readonly Row[]>>,
  memory: InDoubt,
  { inFlightMs }: ActivityDeps,
  { now }: ActivityContext,
): Promise<Look<Row>> {
  // Taken before the request: a task that arrives while the answer is on its way must not count as absent.
  const nowMs = now().getTime();
  const { value, skew, unread } = await list();
  return {
    baseline: TaskBaseline.parse(memory.baseline),
    ...timesOf(memory),
    nowMs,
    inFlightMs,
    tasks: value,
    unread,
    skew,
    lost: memory.lost,
    refusal: memory.refusal,
  };
}

/** Milliseconds. Throws if the arming is not a valid time: everything is measured from it. */
export function timesOf({
  armedAt,
  firstArmedAt = armedAt,
  lostAt = armedAt,
}: Pick<InDoubt, 'armedAt' | 'firstArmedAt' | 'lostAt'>) {
  const armedAtMs = msOf(armedAt);
  const firstArmedAtMs = msOf(firstArmedAt);
  const lostAtMs = msOf(lostAt);
  if (!Number.isNaN(armedAtMs) && !Number.isNaN(firstArmedAtMs))
    return { armedAtMs, firstArmedAtMs, ...(Number.isNaN(lostAtMs) ? {} : { lostAtMs }) };
  throw new LifeboatError('journal.no-arm-time', 'the journal does not say when the request was armed');
}

const ATTEMPTS = 3;
export type Accepted<T> = Extract<SendOutcome<T>, { readonly outcome: 'accepted' }>;

/** Before the second attempt; doubled before the third. */
const PAUSE_MS = 500;

/**
 * Repeats a harmless call until there is an answer, at most three times. Returns the last outcome, whatever
 * it is: a lost answer to this kind of call need not be put to a person. `isEnough` checks an accepted
 * answer: without the requested data it counts as lost.
 */
export function sentAgain<T>(
  send: () => Promise<SendOutcome<T>>,
  signal: AbortSignal,
  isEnough: (answer: Accepted<T>) => boolean = () => true,
): Promise<SendOutcome<T>> {
  return repeat(
    send,
    signal,
    (sent) =>
      sent.outcome === 'unknown' || isTurnedAway(sent) || (sent.outcome === 'accepted' && !isEnough(sent)),
  );
}

/**
 * Repeats a harmless call while throttled, at most three times. Stops at a lost answer: that loss matters.
 */
export function retryThrottled<T>(
  send: () => Promise<SendOutcome<T>>,
  signal: AbortSignal,
): Promise<SendOutcome<T>> {
  return repeat(send, signal, isTurnedAway);
}

async function repeat<T>(
  send: () => Promise<SendOutcome<T>>,
  signal: AbortSignal,
  isWorthAnother: (sent: SendOutcome<T>) => boolean,
): Promise<SendOutcome<T>> {
  for (let attempts = 1; ; attempts += 1) {
    const sent = await send();
    if (attempts >= ATTEMPTS || !isWorthAnother(sent)) return sent;
    const pause = PAUSE_MS * 2 ** (attempts - 1);
    const goesOn = await rest(Math.max(againAfter(sent).againMs ?? 0, pause), true, { signal }).catch(
      () => false,
    );
    if (!goesOn) return sent;
  }
}

/** For a throttled call; empty if the wait is too long. */
function againAfter(sent: SendOutcome<unknown>): { readonly againMs?: number } {
  return sent.outcome === 'accepted' || sent.againMs === undefined ? {} : { againMs: sent.againMs };
}

function isTurnedAway(sent: SendOutcome<unknown>): boolean {
  return againAfter(sent).againMs !== undefined;
}
