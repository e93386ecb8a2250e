import type { Lane, ResolvedGroup, Step } from '../../machines/parts/plan.ts';
import { type GroupData, NEW_GROUP } from '../../machines/parts/plan-events.ts';
import type { PlanContext } from '../../machines/plan.ts';
import { groupsOf, type SteppedPhase } from './facts.ts';

/** By the journal. */
export interface RestChild {
  readonly runId: string;
  readonly group: string;
  readonly step: string;
  readonly lane: string;
  readonly attempt: number;
  readonly result?: 'done' | 'failed' | undefined;
}

/** Left to be done on an instance. */
export interface RestStep {
  readonly step: Step;
  /** For this step. */
  readonly attempt: number;
  /** If a run is begun and still open. */
  readonly openRun: string | undefined;
  /** An earlier attempt has failed. */
  readonly hasFailed: boolean;
}

export interface RestLane {
  readonly lane: Lane;
  /** From 1. */
  readonly wave: number;
  /** A person's reason for taking it out. */
  readonly out: string | undefined;
  /** Empty if every step is passed. */
  readonly steps: readonly RestStep[];
}

export interface RestGroup {
  readonly phase: SteppedPhase;
  readonly group: ResolvedGroup;
  readonly ended: GroupData['ended'];
  /** Why it waits for a person. */
  readonly held: string | undefined;
  readonly lanes: readonly RestLane[];
}

/**
 * In the order of the plan, also of stopped groups, with failed steps that the plan went on without. Without
 * steps that do not belong to the run, or that people passed. Pure.
 */
export function restOfPlan(context: PlanContext, children: readonly RestChild[]): readonly RestGroup[] {
  return (['groups', 'healthy', 'finally'] as const).flatMap((phase) =>
    groupsOf(context, phase)
      .filter(({ lanes }) => lanes.length > 0)
      .map((group): RestGroup => {
        const data = context.groups[group.id] ?? NEW_GROUP;
        return {
          phase,
          group,
          ended: data.ended,
          held: data.held === undefined ? undefined : (data.held.text ?? data.held.why),
          lanes: group.lanes.map((lane, at) => ({
            lane,
            wave: waveOf(group, at),
            out: data.out[lane.name],
            steps: stepsLeft(group, lane, { data, context, children }),
          })),
        };
      }),
  );
}

function stepsLeft(
  { id, steps }: ResolvedGroup,
  { name }: Lane,
  {
    data,
    context,
    children,
  }: {
    readonly data: GroupData;
    readonly context: PlanContext;
    readonly children: readonly RestChild[];
  },
): readonly RestStep[] {
  const mine = children.filter(({ group, lane }) => group === id && lane === name);
  return steps.flatMap((step): RestStep[] => {
    const key = `${name}/${step.id}`;
    if (Object.hasOwn(data.passed, key)) return [];
    const last = mine.filter((child) => child.step === step.id).at(-1);
    if (last === undefined && !belongs(step, context)) return [];
    if (last?.result === 'done') return [];
    const isOpen = last !== undefined && last.result === undefined;
    const attempt = last === undefined ? (data.attempts[key] ?? 1) : isOpen ? last.attempt : last.attempt + 1;
    return [
      { step, attempt, openRun: isOpen ? last.runId : undefined, hasFailed: last?.result === 'failed' },
    ];
  });
}

function belongs({ when, rehearsal }: Step, { input, source }: PlanContext): boolean {
  if (input.rehearsal && rehearsal !== undefined) return false;
  return when === undefined || when === `source-${source}`;
}

function waveOf({ sizes }: ResolvedGroup, lane: number): number {
  let begun = 0;
  const wave = sizes.findIndex((size) => {
    begun += size;
    return lane < begun;
  });
  return wave + 1;
}
