import type { AnyMachineSnapshot, AnyStateMachine, AnyStateNode } from 'xstate';
import type { CallsByHand, FallbackCall, FallbackStep } from './fallback-step.ts';
import type { PlannedCall, StateMeta, StateTag } from './runbook.ts';

/* A state is named by its dotted path: `restore.sending`, or `done`. */

type AnyMeta = StateMeta<unknown, never>;

export function statePath({ value }: Pick<AnyMachineSnapshot, 'value'>): string {
  const parts: string[] = [];
  let rest: unknown = value;
  while (typeof rest === 'object' && rest !== null) {
    const names: readonly string[] = Object.keys(rest);
    const [name] = names;
    if (name === undefined) break;
    if (names.length > 1) return [...parts, regionsIn(rest as Record<string, unknown>)].join('.');
    parts.push(name);
    rest = (rest as Record<string, unknown>)[name];
  }
  if (typeof rest === 'string') parts.push(rest);
  return parts.join('.');
}

/** The states of parallel regions as one part of a path: `data=running+rest=waiting`. */
function regionsIn(regions: Readonly<Record<string, unknown>>): string {
  return Object.entries(regions)
    .map(([name, value]) => `${name}=${typeof value === 'string' ? value : statePath({ value } as never)}`)
    .join('+');
}

/** The state at a path, after those that hold it; empty if the machine has no such state. */
export function nodesAt(machine: AnyStateMachine, path: string): readonly AnyStateNode[] {
  const found: AnyStateNode[] = [];
  let { states } = machine as { states: Readonly<Record<string, AnyStateNode>> };
  for (const name of path.split('.')) {
    const node = Object.hasOwn(states, name) ? states[name] : undefined;
    // Several regions are not one state; the state that holds them is.
    if (node === undefined) return name.includes('=') ? found : [];
    found.push(node);
    states = node.states as typeof states;
  }
  return found;
}

/** In the order in which they are written. */
export function leavesOf(machine: AnyStateMachine): readonly string[] {
  const below = (nodes: Readonly<Record<string, AnyStateNode>>): string[] =>
    Object.values(nodes).flatMap((node) => {
      const inner = below(node.states as Readonly<Record<string, AnyStateNode>>);
      return inner.length === 0 ? [node.path.join('.')] : inner;
    });
  return below(machine.states as Readonly<Record<string, AnyStateNode>>);
}

export function metaAt(machine: AnyStateMachine, path: string): AnyMeta | undefined {
  return nodesAt(machine, path).at(-1)?.meta as AnyMeta | undefined;
}

export function hasTagAt(machine: AnyStateMachine, path: string, tag: StateTag): boolean {
  return nodesAt(machine, path).some(({ tags }) => tags.includes(tag));
}

export function isFinalAt(machine: AnyStateMachine, path: string): boolean {
  return nodesAt(machine, path)[0]?.type === 'final';
}

export interface PhaseStep {
  readonly id: string;
  readonly title: string;
}

/** In order; with the context of a run only those that it passes. States that only decide are left out. */
export function stepsOf(machine: AnyStateMachine, context?: unknown): readonly PhaseStep[] {
  return Object.values(machine.states)
    .filter(({ key, always }) => !isFinalAt(machine, key) && always === undefined)
    .filter(({ meta }) => context === undefined || (meta?.when?.(context) ?? true))
    .map(({ key }) => ({ id: key, title: metaAt(machine, key)?.title ?? key }));
}

export function stepOf(path: string): string {
  return path.split('.')[0] ?? path;
}

export function innerOf(path: string): string {
  return path.slice(stepOf(path).length + 1);
}

/**
 * The states that ask, call or do anything in a run without trouble, in order; with the context of a run only
 * those that it passes, as far as that is known.
 */
export function mainPathOf(machine: AnyStateMachine, context?: unknown): readonly string[] {
  return leavesOf(machine).filter((path) => {
    const { question, calls, does } = metaAt(machine, path) ?? {};
    if (question === undefined && calls === undefined && does === undefined) return false;
    if (AWAY.some((tag) => hasTagAt(machine, path, tag))) return false;
    const nodes = nodesAt(machine, path);
    return context === undefined || nodes.every(({ meta }) => meta?.when?.(context) ?? true);
  });
}

const AWAY = ['failed', 'in-doubt', 'aside'] as const;

/**
 * The rest of a run, from the phase of `state` on, for a person without lifeboat; empty when the run is over.
 * Every call that must not be made twice begins with a look whether it was made, so a state that no phase
 * knows gives the whole plan.
 */
export function fallbackOf(
  machine: AnyStateMachine,
  context: unknown,
  state: string,
): readonly FallbackStep[] {
  if (isFinalAt(machine, state)) return [];
  const passed = stepsOf(machine, context);
  const here = passed.findIndex(({ id }) => id === stepOf(state));
  const parts = passed.slice(Math.max(0, here)).flatMap(({ id }) => {
    const fallback = metaAt(machine, id)?.fallback;
    return fallback === undefined ? [] : { key: id, fallback };
  });
  return parts.flatMap(({ key, fallback }, index) =>
    fallback({
      context,
      at: index === 0 && here >= 0 ? state : undefined,
      state,
      key,
      calls: callsByHand(machine, key),
    }),
  );
}

/** `key` is the phase that asks for the calls. */
export function callsByHand(machine: AnyStateMachine, key: string): CallsByHand {
  const plannedFor = (verb: string, phase: string): readonly PlannedCall[] => {
    const making = leavesOf(machine).filter(
      (path) =>
        nodesAt(machine, path)
          .at(-1)
          ?.invoke.some(({ src }) => src === verb) && metaAt(machine, path)?.calls !== undefined,
    );
    const state = making.find((path) => stepOf(path) === phase) ?? making[0];
    if (state === undefined) throw new Error(`${machine.id} plans no call for ${verb}`);
    return metaAt(machine, state)?.calls ?? [];
  };
  return {
    looks: (verb, phase = key) =>
      plannedFor(verb, phase).flatMap((call) =>
        call.method === 'GET' && call.notByHand !== true ? byHand(call) : [],
      ),
    change: (verb, { lookFirst, ...values } = {}, phase = key) => {
      const planned = plannedFor(verb, phase);
      const call = planned.find(({ method }) => method !== 'GET');
      if (call === undefined) throw new Error(`${machine.id} plans no change for ${verb}`);
      // A send that leaves a task reads, before it, the list in which that task appears.
      const list = planned.find(({ method }) => method === 'GET')?.path ?? '';
      return {
        ...byHand(call),
        ...values,
        ...(lookFirst === undefined ? {} : { once: { lookFirst, list } }),
      };
    },
  };
}

function byHand({ on, method, path }: PlannedCall): FallbackCall {
  return { do: 'call', on: on ?? 'instance', method, path };
}
