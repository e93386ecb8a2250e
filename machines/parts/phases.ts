import type { AnyStateMachine } from 'xstate';
import type { FallbackStep } from './fallback-step.ts';
import { hasTagAt, isFinalAt, leavesOf, metaAt, nodesAt } from './states.ts';

/*
 * What is derived from the phases of a machine: the rail, the way of a run without trouble, the fallback
 * script. None of it is written down a second time.
 */

/** A phase of a runbook, or a step of its rail. */
export interface PhaseStep {
  readonly id: string;
  readonly title: string;
}

/**
 * The phases of a machine, in order; with the context of a run only those that it passes. What only decides
 * is none.
 */
export function stepsOf(machine: AnyStateMachine, context?: unknown): readonly PhaseStep[] {
  return Object.values(machine.states)
    .filter(({ key, always }) => !isFinalAt(machine, key) && always === undefined)
    .filter(({ meta }) => context === undefined || (meta?.when?.(context) ?? true))
    .map(({ key }) => ({ id: key, title: metaAt(machine, key)?.title ?? key }));
}

/** The phase of a state. */
export function stepOf(path: string): string {
  return path.split('.')[0] ?? path;
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
 * The rest of a run from a state on, for a person without lifeboat: the phase that the state belongs to and
 * all after it. A phase that the run does not pass is left out; nothing is left when the run is over. Every
 * call that must not be made twice begins with a look whether it was made, so that a state which no phase
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
  const parts = passed.slice(Math.max(0, here)).flatMap(({ id }) => metaAt(machine, id)?.fallback ?? []);
  return parts.flatMap((fallback, index) =>
    fallback(context, index === 0 && here >= 0 ? state : undefined, state),
  );
}
