import type { AnyMachineSnapshot } from 'xstate';
import { FINALLY, HEALTHY, type PlanInput, type ResolvedGroup } from '../../machines/parts/plan.ts';
import { type GroupState, NEW_GROUP } from '../../machines/parts/plan-events.ts';
import type { PlanContext } from '../../machines/plan.ts';
import { closingGroups } from './resolve.ts';
import type { Child, GroupRecord, PlanFacts, Start } from './schedule.ts';

/** Their groups have steps. */
export type SteppedPhase = 'groups' | typeof HEALTHY | typeof FINALLY;

/** In this order. */
const STEPPED: readonly SteppedPhase[] = ['groups', HEALTHY, FINALLY];

function phaseOf({ value }: Pick<AnyMachineSnapshot, 'value'>): string | undefined {
  return typeof value === 'string' ? value : Object.keys(value as object)[0];
}

/** Undefined in any other phase. Pure. */
function steppedPhase(snapshot: Pick<AnyMachineSnapshot, 'value'>): SteppedPhase | undefined {
  const now = phaseOf(snapshot);
  return STEPPED.find((phase) => phase === now);
}

/** The phases that come to nothing any more. */
function pastPhases(snapshot: Pick<AnyMachineSnapshot, 'value'>): readonly SteppedPhase[] {
  const now = phaseOf(snapshot) ?? '';
  if (BEFORE.has(now)) return [];
  const at = (STEPPED as readonly string[]).indexOf(now);
  return at < 0 ? STEPPED : STEPPED.slice(0, at);
}

const BEFORE: ReadonlySet<string> = new Set(['evaluate', 'approve', 'confirm']);

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
  return factsOf(context, groupsOf(context, phase), statesNow(snapshot), children, nowMs);
}

/** The groups of a plan that is over: none goes on. Pure. */
export function standingFacts(context: PlanContext, children: readonly Child[], nowMs: number): PlanFacts {
  return factsOf(context, context.input.groups, {}, children, nowMs);
}

/** For a list of all phases: those that are over stand as they ended, those ahead wait. Pure. */
export function listedFacts(
  snapshot: Pick<AnyMachineSnapshot, 'value' | 'context'>,
  children: readonly Child[],
  nowMs: number,
): PlanFacts {
  const context = snapshot.context as PlanContext;
  const past = pastPhases(snapshot).flatMap((phase) => groupsOf(context, phase));
  const notRun = past.flatMap(({ id }): [string, GroupState][] =>
    context.groups[id]?.ended === undefined ? [[id, 'notRun']] : [],
  );
  const states = { ...Object.fromEntries(notRun), ...statesNow(snapshot) };
  return factsOf(context, allGroupsOf(context), states, children, nowMs);
}

function factsOf(
  { groups: data, source, input: { rehearsal } }: PlanContext,
  groups: readonly ResolvedGroup[],
  states: Readonly<Record<string, GroupState>>,
  children: readonly Child[],
  nowMs: number,
): PlanFacts {
  const records = Object.fromEntries(
    groups.map(({ id }): [string, GroupRecord] => {
      const known = data[id] ?? NEW_GROUP;
      return [id, { ...known, state: states[id] ?? ENDED[known.ended ?? 'open'] }];
    }),
  );
  return { groups, records, children, source, rehearsal, nowMs };
}

const ENDED = { done: 'done', stopped: 'stopped', 'not-run': 'notRun', open: 'waiting' } as const;

/** Of the groups in the phase that is under way. */
function statesNow(snapshot: Pick<AnyMachineSnapshot, 'value'>): Readonly<Record<string, GroupState>> {
  const phase = steppedPhase(snapshot);
  if (phase === undefined) return {};
  return (snapshot.value as Readonly<Record<string, Readonly<Record<string, GroupState>>>>)[phase] ?? {};
}

/** In the order of the phases; checks of health and last steps only if the plan has any. Pure. */
export function allGroupsOf(context: Pick<PlanContext, 'input'>): readonly ResolvedGroup[] {
  const closing = [HEALTHY, FINALLY] as const;
  return [
    ...context.input.groups,
    ...closing.flatMap((phase) => groupsOf(context, phase)).filter(({ lanes }) => lanes.length > 0),
  ];
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
