import type { z } from 'zod';
import type { Triggered } from '../../machines/parts/task-data.ts';
import { LifeboatError } from '../base/errors.ts';
import { instantOf, msOf } from '../base/instant.ts';
import type { Answer, SendOutcome } from '../service/client.ts';
import type { Json } from '../store/journal.ts';
import type { ActivityContext, ActivityResult, InDoubt, Sent } from './activity.ts';
import { isUnderWay } from './baseline.ts';
import type { ActivityDeps } from './deps.ts';
import { type Look, type Task, TaskBaseline } from './evaluate-tasks.ts';
import { because, ok } from './results.ts';
import { againAfter } from './sent-again.ts';

/** The preparation of a task's send: the present list, and a token in memory. */
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
 * How the send of a task ended. One that was accepted without naming a new task is not over, and the list
 * decides: `service.no-id` if no id came, `service.old-id` if `baseline` already lists it, so that it says
 * nothing about this request.
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

/** How a send ended that was not accepted; undefined for an accepted one. */
export function sentUnaccepted(
  sent: SendOutcome<unknown>,
): Exclude<Sent<never>, { sent: 'landed' }> | undefined {
  if (sent.outcome === 'accepted') return undefined;
  const { failure } = sent;
  if (sent.outcome === 'unknown') return { sent: 'unknown', failure };
  if (sent.outcome === 'never-sent') return { sent: 'absent', failure };
  return { sent: 'absent', failure, refused: true, ...againAfter(sent) };
}

/** A look at the list. Rejects if the baseline in memory is not from `baselineOf`. */
export async function lookAt<Row extends Task>(
  list: () => Promise<Answer<readonly Row[]>>,
  memory: InDoubt,
  { inFlightMs }: ActivityDeps,
  { now }: ActivityContext,
): Promise<Look<Row>> {
  // Taken before the list is requested: a task that arrives while the answer is on its way must not count as
  // absent.
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

/**
 * When it was armed, first and last, and when it was lost, in milliseconds. Throws if the arming is not a
 * valid time: everything is measured from it.
 */
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
