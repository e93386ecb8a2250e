import type { AnyMachineSnapshot } from 'xstate';
import type { RunContext } from '../../../machines/context.ts';
import { isAbsence } from '../../../machines/parts/task-data.ts';
import { RESTING_VERBS } from '../../../machines/verbs.ts';
import { instantOf } from '../../base/instant.ts';
import type { ChildSnapshot, Trouble } from '../../plans/conductor-port.ts';
import { metaOf, questionOf } from '../../runner/answer.ts';
import type { RunState } from '../../runner/run.ts';
import { fieldsOf } from '../../store/journal.ts';
import { incrementalFold } from '../../store/projections/projection.ts';

/** What the record of a child says beside its state. */
interface Noted {
  /** When it came to its state. */
  sinceMs: number | undefined;
  hasConfirmed: boolean;
}

const noted = incrementalFold<Noted>(
  () => ({ sinceMs: undefined, hasConfirmed: false }),
  (state, { type, at, body }) => {
    if (type === 'event' || type === 'run.started') state.sinceMs = instantOf(at);
    const { event } = fieldsOf(body);
    if (type === 'event' && fieldsOf(event)['type'] === 'operator.confirm') state.hasConfirmed = true;
  },
);

/** The run of a plan's step as a conductor looks at it. */
export function childSnapshot({
  snapshot,
  paused,
  entries,
  activity,
}: Pick<RunState, 'snapshot' | 'paused' | 'entries' | 'activity'>): ChildSnapshot {
  const context = snapshot.context as RunContext;
  return {
    question: questionOf(snapshot),
    where: metaOf(snapshot)?.title,
    ...noted(entries),
    asksAbout: troubleOf(snapshot),
    paused,
    isResting: activity !== undefined && RESTING_VERBS.has(activity.verb),
    warning: metaOf(snapshot)?.warning?.(context),
    targetNow: context.run.target.kind === 'other' ? context.target.facts?.identity : undefined,
  };
}

function troubleOf(snapshot: AnyMachineSnapshot): Trouble | undefined {
  if (snapshot.hasTag('in-doubt' as never)) return 'doubt';
  if (!snapshot.hasTag('failed' as never)) return undefined;
  return isAbsence((snapshot.context as RunContext).failure) ? 'absence' : 'failure';
}
