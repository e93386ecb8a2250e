import { runbooks } from '../../machines/index.ts';
import { metaAt } from '../../machines/parts/states.ts';

/** What is told of an entry: which run it is of, and what it says. */
export interface Told {
  /** Its place in the log. */
  readonly index: number;
  readonly stream: string;
  readonly type: string;
  readonly body: unknown;
}

/**
 * The most children of each group of a plan that were at work at once, by entries in any order. One that has
 * come to a question counts as soon as it goes on: whether a person or the plan answers it, it does nothing
 * until then.
 */
export function mostAtWork(entries: readonly Told[]): Readonly<Record<string, number>> {
  const inOrder = entries.toSorted((one, other) => one.index - other.index);
  const children = new Map<string, { readonly group: string; readonly runbook: string }>();
  const atWork = new Map<string, Set<string>>();
  const most: Record<string, number> = {};
  for (const { stream, type, body } of inOrder) {
    const { plan, runbook = '', to } = body as Partial<Body>;
    if (type === 'run.started' && plan !== undefined) children.set(stream, { group: plan.group, runbook });
    const child = children.get(stream);
    if (child === undefined) continue;
    const ofGroup = atWork.get(child.group) ?? new Set();
    atWork.set(child.group, ofGroup);
    if (type === 'run.started' || (type === 'event' && !asksAt(child.runbook, to))) ofGroup.add(stream);
    else if (type === 'event' || type === 'run.closed') ofGroup.delete(stream);
    most[child.group] = Math.max(most[child.group] ?? 0, ofGroup.size);
  }
  return most;
}

interface Body {
  readonly plan: { readonly group: string };
  readonly runbook: string;
  readonly to: string;
}

/** Also true at an end: a run that a person has given up only closes. */
function asksAt(runbook: string, state: string | undefined): boolean {
  const machine = runbooks[runbook]?.machine;
  if (machine === undefined || state === undefined) return false;
  if (machine.root.states[state]?.type === 'final') return true;
  return metaAt(machine, state)?.question !== undefined;
}
