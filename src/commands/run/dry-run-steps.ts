import { optionKey } from '../../../machines/parts/question.ts';
import type { Runbook } from '../../../machines/parts/runbook.ts';
import { statePath } from '../../../machines/parts/states.ts';
import { effectOf } from '../../../machines/verbs.ts';
import type { ActivityContext, AnyActivity } from '../../activities/activity.ts';
import { errorFrom, failureOf } from '../../base/errors.ts';
import type { Failure } from '../../base/failure.ts';
import { decide, questionOf } from '../../runner/answer.ts';
import { type Folded, fold, type MachineEvent, step } from '../../runner/fold.ts';

/** How far a run would get by looking alone, and what it would know then. */
export interface DryRun {
  readonly state: string;
  readonly context: unknown;
  /** The obstacle that a look found. */
  readonly failure: Failure | undefined;
  /** The question that a person must answer before the dry run can see more. */
  readonly asks: string | undefined;
}

/** A machine that asks and looks in a loop must not keep a dry run going forever. */
const MAX_STEPS = 60;

/**
 * Takes a machine as far as looking gets it: performs what only reads, answers questions with their
 * recommendation, and stops before any change and at the first question without one. Journals nothing.
 * Rejects when the service refuses the credentials.
 */
export async function dryRun(
  runbook: Runbook,
  input: unknown,
  activities: Readonly<Record<string, AnyActivity>>,
  context: Pick<ActivityContext, 'instance' | 'signal'>,
): Promise<DryRun> {
  let folded = fold(runbook, input, []);
  for (let steps = 0; steps < MAX_STEPS; steps += 1) {
    const event = (await look(folded, activities, context)) ?? (await recommended(folded));
    if (event === undefined || folded.snapshot.hasTag('failed' as never)) break;
    folded = step(runbook, folded, event);
  }
  const { snapshot } = folded;
  const failure = snapshot.hasTag('failed' as never) ? runbook.failure(snapshot.context as never) : undefined;
  const asks = failure === undefined ? questionOf(snapshot)?.prompt : undefined;
  return { state: statePath(snapshot), context: snapshot.context, failure, asks };
}

async function look(
  { invocation }: Folded,
  activities: Readonly<Record<string, AnyActivity>>,
  { instance, signal }: Pick<ActivityContext, 'instance' | 'signal'>,
): Promise<MachineEvent | undefined> {
  if (invocation === undefined || effectOf(invocation.verb) === 'download') return undefined;
  const activity = activities[invocation.verb];
  if (activity?.kind !== 'read') return undefined;
  const result = await activity
    .run(invocation.input as never, {
      runId: 'dry-run',
      instance,
      signal,
      now: () => new Date(),
      report: () => undefined,
    })
    .catch((thrown: unknown) => ({ ok: false as const, failure: failureOf(thrown) }));
  if (result.ok)
    return { type: `xstate.done.actor.${invocation.id}`, output: result.output, actorId: invocation.id };
  const { failure } = result;
  if (failure.code.startsWith('credentials.')) throw errorFrom(failure);
  return { type: `xstate.error.actor.${invocation.id}`, error: failure, actorId: invocation.id };
}

/** The recommended answer, if the question has one that needs no typed words. */
async function recommended({ snapshot }: Folded): Promise<MachineEvent | undefined> {
  const question = questionOf(snapshot);
  if (question?.kind !== 'choice') return undefined;
  const option = question.options.find((one) => one.recommended && one.disabled === undefined && !one.needs);
  if (option === undefined) return undefined;
  const { event } = await decide(snapshot, { event: optionKey(option.event) }, noSecret);
  return event;
}

function noSecret(): never {
  throw new Error('a dry run takes no secrets');
}
