import { describe, expect, it } from 'vitest';
import type { AnyStateNode } from 'xstate';
import { allRunbooks } from '../../machines/index.ts';
import { metaAt } from '../../machines/parts/states.ts';

/*
 * A page of a machine binds every exit of a phase to another phase. So the page shows every edge between
 * phases, and a phase knows no other one.
 */

type Target = string | { readonly target: string };
type Exits = Readonly<Record<string, string | readonly Target[]>>;

function inside(node: AnyStateNode): readonly AnyStateNode[] {
  return [node, ...Object.values(node.states).flatMap((child) => inside(child as AnyStateNode))];
}

/** What the transitions of a phase, and of all that is in it, lead to outside of it. */
function leavings(phase: AnyStateNode): readonly AnyStateNode[] {
  const own = new Set(inside(phase));
  return inside(phase).flatMap((node) =>
    [...[...node.transitions.values()].flat(), ...(node.always ?? [])].flatMap(({ target = [] }) =>
      (target as readonly AnyStateNode[]).filter((one) => !own.has(one)),
    ),
  );
}

/** The exits that the page gives to a phase, as ids of states. */
function bound(exits: Exits): readonly string[] {
  return Object.values(exits).flatMap((way) =>
    typeof way === 'string' ? [way] : way.map((one) => (typeof one === 'string' ? one : one.target)),
  );
}

describe.each(allRunbooks)('$id', ({ machine }) => {
  const phases = (Object.values(machine.states) as AnyStateNode[]).filter(
    (node) => Object.keys(node.states).length > 0,
  );
  const exitsOf = (phase: AnyStateNode) =>
    (metaAt(machine, phase.key) as { readonly exits?: Exits } | undefined)?.exits ?? {};

  it('shows on its page every edge between its phases, and no other', () => {
    expect(phases.length).toBeGreaterThan(3);
    for (const phase of phases) {
      const built = new Set(leavings(phase).map(({ id }) => id));
      expect([...built].sort(), phase.key).toEqual([...new Set(bound(exitsOf(phase)))].sort());
    }
  });

  it('is entered at the beginning of a phase, or through a named entry', () => {
    for (const phase of phases)
      for (const { id, parent } of leavings(phase))
        if (parent !== machine.root) expect(id, phase.key).toMatch(new RegExp(`^${parent?.key}:\\w+$`, 'u'));
  });
});
