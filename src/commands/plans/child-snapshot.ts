import type { AnyMachineSnapshot } from 'xstate';
import type { RunContext } from '../../../machines/context.ts';
import { targetDifferences } from '../../../machines/parts/baseline.ts';
import type { Question } from '../../../machines/parts/question.ts';
import type { TargetIdentity } from '../../../machines/parts/recovery-data.ts';
import { isAbsence } from '../../../machines/parts/task-data.ts';
import { isInDoubt } from '../../../machines/send-state.ts';
import { onceOverMs } from '../../activities/outside/run-command.ts';
import { isoOf } from '../../base/date.ts';
import type { Failure } from '../../base/failure.ts';
import { formatTime } from '../../base/format.ts';
import { instantOf, msOf } from '../../base/instant.ts';
import type { ChildSnapshot, Trouble } from '../../plans/conductor-port.ts';
import { metaOf, questionOf } from '../../runner/answer.ts';
import { type Entry, fieldsOf } from '../../store/journal.ts';
import { incrementalFold } from '../../store/projections/projection.ts';
import { foldSends } from '../../store/projections/sends.ts';

interface Noted {
  /** When it came to its state. */
  sinceMs: number | undefined;
  hasConfirmed: boolean;
}

export interface SeenRun {
  readonly snapshot: AnyMachineSnapshot;
  readonly entries: readonly Entry[];
  /** Set while it waits for credentials. */
  readonly paused: Failure | undefined;
  /** What this process does for it now. */
  readonly activity: ChildSnapshot['activity'];
}

const noted = incrementalFold<Noted>(
  () => ({ sinceMs: undefined, hasConfirmed: false }),
  (state, { type, at, body }) => {
    if (type === 'event' || type === 'run.started') state.sinceMs = instantOf(at);
    const { event } = fieldsOf(body);
    if (type === 'event' && fieldsOf(event)['type'] === 'operator.confirm') state.hasConfirmed = true;
  },
);

const asked = new WeakMap<AnyMachineSnapshot, { readonly question: Question | undefined }>();

/** What a run asks; the same object for the same snapshot. */
function knownQuestion(snapshot: AnyMachineSnapshot): Question | undefined {
  const known = asked.get(snapshot) ?? { question: questionOf(snapshot) };
  asked.set(snapshot, known);
  return known.question;
}

/** A screen asks many times a second: each entry is read once. */
export function childSnapshot({ snapshot, entries, paused, activity }: SeenRun): ChildSnapshot {
  const context = snapshot.context as RunContext;
  return {
    question: knownQuestion(snapshot),
    where: whereOf(snapshot, entries),
    ...noted(entries),
    asksAbout: troubleOf(snapshot),
    paused,
    activity,
    warning: metaOf(snapshot)?.warning?.(context),
    targetNow: context.run.target.kind === 'other' ? context.target.facts?.identity : undefined,
  };
}

/** A `once` command may go on after its process died: waits for its end, at most until its time is over. */
function whereOf(snapshot: AnyMachineSnapshot, entries: readonly Entry[]): string | undefined {
  const title = metaOf(snapshot)?.title;
  const { step } = (snapshot.context as RunContext).run;
  if (step?.kind !== 'command' || step.command.kind !== 'once' || knownQuestion(snapshot) !== undefined)
    return title;
  const open = [...foldSends(entries).values()].findLast(isInDoubt);
  if (open === undefined) return title;
  const until = isoOf(onceOverMs(msOf(open.armedAt), step.command.timeout));
  return `${title}: begun at ${formatTime(open.armedAt)} UTC, may go on until ${formatTime(until)} UTC`;
}

function troubleOf(snapshot: AnyMachineSnapshot): Trouble | undefined {
  if (snapshot.hasTag('in-doubt' as never)) return 'doubt';
  if (!snapshot.hasTag('failed' as never)) return undefined;
  return isAbsence((snapshot.context as RunContext).failure) ? 'absence' : 'failure';
}

/** How a target differs from what was confirmed, in words: `ConductorPort.differences`. */
export function changesSince(seen: string, now: unknown): readonly string[] {
  return targetDifferences(JSON.parse(seen) as TargetIdentity, now as TargetIdentity);
}
