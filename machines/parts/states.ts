import type { AnyMachineSnapshot, AnyStateMachine, AnyStateNode } from 'xstate';
import type { StateMeta, StateTag } from './runbook.ts';

/*
 * A state of a machine by its dotted path: `restore.sending`, or `done`. Everything that names, compares or
 * looks up a state does it here.
 */

type AnyMeta = StateMeta<unknown, never>;

/** The active state as a dotted path. */
export function statePath({ value }: Pick<AnyMachineSnapshot, 'value'>): string {
  const parts: string[] = [];
  let rest: unknown = value;
  while (typeof rest === 'object' && rest !== null) {
    const [name] = Object.keys(rest);
    if (name === undefined) break;
    parts.push(name);
    rest = (rest as Record<string, unknown>)[name];
  }
  if (typeof rest === 'string') parts.push(rest);
  return parts.join('.');
}

/** The state at a path, after those that hold it; none where the machine has no such state. */
export function nodesAt(machine: AnyStateMachine, path: string): readonly AnyStateNode[] {
  const found: AnyStateNode[] = [];
  let { states } = machine as { states: Readonly<Record<string, AnyStateNode>> };
  for (const name of path.split('.')) {
    const node = Object.hasOwn(states, name) ? states[name] : undefined;
    if (node === undefined) return [];
    found.push(node);
    states = node.states as typeof states;
  }
  return found;
}

/** Every state that a run can be in, in the order in which they are written. */
export function leavesOf(machine: AnyStateMachine): readonly string[] {
  const below = (nodes: Readonly<Record<string, AnyStateNode>>): string[] =>
    Object.values(nodes).flatMap((node) => {
      const inner = below(node.states as Readonly<Record<string, AnyStateNode>>);
      return inner.length === 0 ? [node.path.join('.')] : inner;
    });
  return below(machine.states as Readonly<Record<string, AnyStateNode>>);
}

/** What a state says about itself. */
export function metaAt(machine: AnyStateMachine, path: string): AnyMeta | undefined {
  return nodesAt(machine, path).at(-1)?.meta as AnyMeta | undefined;
}

/** Whether a state, or one that holds it, has a tag. */
export function hasTagAt(machine: AnyStateMachine, path: string, tag: StateTag): boolean {
  return nodesAt(machine, path).some(({ tags }) => tags.includes(tag));
}

/** Whether a run is over in a state. */
export function isFinalAt(machine: AnyStateMachine, path: string): boolean {
  return nodesAt(machine, path)[0]?.type === 'final';
}
