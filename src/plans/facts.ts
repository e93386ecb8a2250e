import type { AnyMachineSnapshot } from 'xstate';
import { FINALLY, HEALTHY, type PlanInput, type ResolvedGroup } from '../../machines/parts/plan.ts';
import { type GroupState, NEW_GROUP } from '../../machines/parts/plan-events.ts';
import type { PlanContext } from '../../machines/plan.ts';
import { closingGroups } from './resolve.ts';
import type { Child, GroupRecord, PlanFacts, Start } from './schedule.ts';

/** Their groups have steps. */
export type SteppedPhase = 'groups' | typeof HEALTHY | typeof FINALLY;

/** Undefined in any other phase. Pure. */
function steppedPhase({ value }: Pick<AnyMachineSnapshot, 'value'>): SteppedPhase | undefined {
  const [phase] = typeof value === 'string' ? [value] : Object.keys(value as object);
  return phase === 'groups' || phase === HEALTHY || phase === FINALLY ? phase : undefined;
}

/** Whether a run is in a phase; with `inner`, in that state of it. */
export function isAt({ value }: Pick<AnyMachineSnapshot, 'value'>, phase: string, inner?: string): boolean {
  if (typeof value !== 'object') return value === phase && inner === undefined;
  return Object.hasOwn(value, phase) && (inner === undefined || Reflect.get(value, phase) === inner);
}

/** Decide which children may start; undefined in a phase that has none. Pure. */
export function planFacts(
  snapshot: Pick<AnyMachineSnapshot, 'value' | 'context'>,
  children: readonly Child[],
  nowMs: number,
): PlanFacts | undefined {
  const phase = steppedPhase(snapshot);
  if (phase === undefined) return undefined;
  const context = snapshot.context as PlanContext;
  const states = (snapshot.value as Readonly<Record<string, Readonly<Record<string, GroupState>>>>)[phase];
  const groups = groupsOf(context, phase);
  const records = Object.fromEntries(
    groups.map(({ id }): [string, GroupRecord] => [
      id,
      { ...(context.groups[id] ?? NEW_GROUP), state: states?.[id] ?? 'waiting' },
    ]),
  );
  return { groups, records, children, source: context.source, rehearsal: context.input.rehearsal, nowMs };
}

/** For a list of a plan that is over: no group goes on. Pure. */
export function standingFacts(context: PlanContext, children: readonly Child[], nowMs: number): PlanFacts {
  const { groups } = context.input;
  const records = Object.fromEntries(
    groups.map(({ id }): [string, GroupRecord] => {
      const data = context.groups[id] ?? NEW_GROUP;
      const ends = { done: 'done', stopped: 'stopped', 'not-run': 'notRun' } as const;
      return [id, { ...data, state: data.ended === undefined ? 'waiting' : ends[data.ended] }];
    }),
  );
  return { groups, records, children, source: context.source, rehearsal: context.input.rehearsal, nowMs };
}

export function groupsOf(
  { input }: Pick<PlanContext, 'input'>,
  phase: SteppedPhase,
): readonly ResolvedGroup[] {
  if (phase === 'groups') return input.groups;
  const closing = closingGroups(input.plan);
  return [phase === HEALTHY ? closing.healthy : closing.finally];
}

/** The group, step and lane of a child, in any phase. Throws if the plan has no such place. */
export function placeOf(input: PlanInput, { group, step, lane }: Omit<Start, 'attempt'>) {
  for (const phase of ['groups', HEALTHY, FINALLY] as const)
    for (const one of groupsOf({ input }, phase)) {
      if (one.id !== group) continue;
      const place = {
        group: one,
        step: one.steps.find(({ id }) => id === step),
        lane: one.lanes.find(({ name }) => name === lane),
      };
      if (place.step !== undefined && place.lane !== undefined)
        return { group: one, step: place.step, lane: place.lane };
    }
  throw new Error(`the plan has no step ${group}/${step} on ${lane}`);
}
