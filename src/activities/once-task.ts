import type { Triggered } from '../../machines/parts/verbs.ts';
import { LifeboatError } from '../errors.ts';
import type { Answer, SendOutcome } from '../service/client.ts';
import type { ActivityContext, ActivityResult, InDoubt, Sent } from './activity.ts';
import { instantOf } from './clocks.ts';
import type { ActivityDeps } from './deps.ts';
import { type Look, type Task, TaskBaseline } from './doubt.ts';
import { because, ok } from './results.ts';
import { againAfter } from './sent-again.ts';

/** What a send of a task is prepared with: the list as it is now. */
export async function baselineOf(
  list: () => Promise<Answer<readonly Task[]>>,
): Promise<ActivityResult<TaskBaseline>> {
  try {
    const { value, skew } = await list();
    return ok({
      tasks: value.map(({ id, triggered_at }) => [id, instantOf(triggered_at) ?? null]),
      skew: skew ?? null,
    });
  } catch (thrown) {
    return because(thrown);
  }
}

/**
 * How the send of a task ended. One that was accepted without naming the task is not over: `service.no-id` lets `judge` find it in the list.
 */
export function sentTask(
  sent: SendOutcome<{ readonly id?: number | undefined }>,
  what: string,
): Sent<Triggered> {
  if (sent.outcome === 'refused' || sent.outcome === 'never-sent')
    return { sent: 'absent', failure: sent.failure, ...againAfter(sent) };
  if (sent.outcome !== 'accepted') return { sent: 'unknown', failure: sent.failure };
  const { id } = sent.value;
  if (id !== undefined) return { sent: 'landed', output: { landed: true, id, adopted: false } };
  const noId = new LifeboatError('service.no-id', `the service took the request without naming the ${what}`);
  return { sent: 'unknown', failure: noId.toFailure() };
}

/** A look at the list. Rejects when the memory is not one that `baselineOf` gave: nothing is concluded from that. */
export async function lookAt<Row extends Task>(
  list: () => Promise<Answer<readonly Row[]>>,
  { baseline, armedAt, lost }: InDoubt,
  { settleMs }: ActivityDeps,
  { now }: ActivityContext,
): Promise<Look<Row>> {
  // Taken before the list is asked for: what arrives while the answer is on its way must not count as absent.
  const nowMs = now().getTime();
  const { value, skew } = await list();
  return {
    baseline: TaskBaseline.parse(baseline),
    armedAtMs: armedAtMs(armedAt),
    nowMs,
    settleMs,
    tasks: value,
    skew,
    lost,
  };
}

/** The moment of arming in milliseconds. Rejects when it is no time: everything is counted from it. */
export function armedAtMs(armedAt: string): number {
  const ms = Date.parse(armedAt);
  if (!Number.isNaN(ms)) return ms;
  throw new LifeboatError('journal.no-arm-time', 'the journal does not say when the request was armed');
}
