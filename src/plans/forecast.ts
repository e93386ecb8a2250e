import { initialTransition, transition } from 'xstate';
import type { PlanInput, ResolvedGroup, Step } from '../../machines/parts/plan.ts';
import { planMachine } from '../../machines/plan.ts';
import { planFacts } from './facts.ts';
import { Front } from './front.ts';
import { type PlanFacts, type Start, schedule } from './schedule.ts';

/** Milliseconds on a lane; undefined if not known. */
export type TimeOf = (step: Step, start: Start) => number | undefined;

/** If nothing goes wrong. Milliseconds from the start of the plan. */
export interface GroupTimes {
  readonly id: string;
  readonly beginMs: number;
  readonly endMs: number;
}

export interface Forecast {
  readonly groups: readonly GroupTimes[];
  readonly totalMs: number;
  /** These decide when the plan is over, in their order. */
  readonly path: readonly string[];
  /** Steps without a known time count as none, so the plan takes longer. */
  readonly unknown: number;
  readonly steps: number;
}

/** If nothing goes wrong: runs the plan by its own scheduler, with children that only take time. Pure. */
export function forecastOf(input: PlanInput, timeOf: TimeOf): Forecast {
  const machine = planMachine(input.groups.map(({ id }) => id));
  const unasked = {
    ...input,
    plan: { ...input.plan, approve: undefined },
    groups: unconfirmed(input.groups),
  };
  let [snapshot] = initialTransition(machine, unasked);
  [snapshot] = transition(machine, snapshot, { type: 'plan.evaluated', lanes: [] });
  const steps = new Map(
    input.groups.flatMap(({ id, steps: of }) => of.map((step) => [`${id}/${step.id}`, step])),
  );
  const times = new Map<string, GroupTimes>();
  const fronts = new Map(unasked.groups.map((group) => [group.id, new Front(group)]));
  const sizes = new Map(input.groups.map((group) => [group.id, group.sizes]));
  const open: { readonly start: Start; readonly endMs: number }[] = [];
  let [nowMs, unknown, count] = [0, 0, 0];
  for (;;) {
    const facts = planFacts(snapshot, [], nowMs);
    if (facts === undefined || facts.groups !== snapshot.context.input.groups) break;
    const { events, starts, wakeMs } = schedule(narrowed(facts, fronts));
    for (const event of events) {
      if (event.type === 'wave.begun')
        fronts.get(event.group)?.begin(sizes.get(event.group)?.[event.wave - 1] ?? 0);
      if (event.type === 'group.begun')
        times.set(event.group, { id: event.group, beginMs: nowMs, endMs: nowMs });
      if (event.type === 'group.ended')
        times.set(event.group, {
          id: event.group,
          beginMs: times.get(event.group)?.beginMs ?? nowMs,
          endMs: nowMs,
        });
      const promoted = event.type === 'group.held' && event.why === 'promotion';
      [snapshot] = transition(machine, snapshot, event);
      if (promoted)
        [snapshot] = transition(machine, snapshot, { type: 'operator.resumeGroup', group: event.group });
    }
    for (const start of starts) {
      const step = steps.get(`${start.group}/${start.step}`);
      const ms = step === undefined ? undefined : timeOf(step, start);
      count += 1;
      if (ms === undefined) unknown += 1;
      fronts.get(start.group)?.start(start);
      open.push({ start, endMs: nowMs + (ms ?? 0) });
    }
    if (events.length > 0 || starts.length > 0) continue;
    const next = Math.min(...open.map(({ endMs }) => endMs), wakeMs ?? Number.POSITIVE_INFINITY);
    if (next === Number.POSITIVE_INFINITY) break;
    nowMs = next;
    for (const one of open.splice(0)) {
      if (one.endMs <= nowMs) fronts.get(one.start.group)?.end(one.start, one.endMs);
      else open.push(one);
    }
  }
  const groups = input.groups.flatMap(({ id }) => times.get(id) ?? []);
  return { groups, totalMs: nowMs, path: criticalPath(input.groups, times), unknown, steps: count };
}

/** Only the lanes on which something can be decided next. */
function narrowed(facts: PlanFacts, fronts: ReadonlyMap<string, Front>): PlanFacts {
  const parts = facts.groups.map((group) => {
    const front = facts.records[group.id]?.state === 'running' ? fronts.get(group.id) : undefined;
    return front?.narrowed(facts) ?? { groups: [{ ...group, lanes: [] }], children: [] };
  });
  return {
    ...facts,
    groups: parts.flatMap(({ groups }) => groups),
    children: parts.flatMap(({ children }) => children),
  };
}

/** To print; `rto` in milliseconds. Pure. */
export function shownForecast(
  { totalMs, path, steps, unknown }: Forecast,
  { rto }: { readonly rto?: number | undefined },
) {
  return {
    seconds: totalMs / 1000,
    path,
    steps,
    unknown,
    ...(rto === undefined ? {} : { rtoSeconds: rto / 1000 }),
  };
}

/** A forecast is made before any confirmation, so no name is needed: steps count only by their time. */
function unconfirmed(groups: readonly ResolvedGroup[]): readonly ResolvedGroup[] {
  return groups.map((group) => ({
    ...group,
    steps: group.steps.map((step): Step => ({ ...step, kind: 'check', check: {} }) as Step),
  }));
}

/** From the group that ends last, back along what it waited for longest. */
function criticalPath(
  groups: readonly ResolvedGroup[],
  times: ReadonlyMap<string, GroupTimes>,
): readonly string[] {
  const endOf = (id: string) => times.get(id)?.endMs ?? 0;
  const latest = (ids: readonly string[]) => ids.toSorted((one, other) => endOf(other) - endOf(one))[0];
  const path: string[] = [];
  for (let id = latest(groups.map((group) => group.id)); id !== undefined; ) {
    path.unshift(id);
    id = latest(groups.find((group) => group.id === id)?.after ?? []);
  }
  return path;
}
