import type { RunContext } from '../context.ts';
import type { StateMeta, StateTag } from '../parts/runbook.ts';
import { runbook } from '../setup.ts';

export type PhaseConfig = Parameters<typeof runbook.createStateConfig>[0];
/** The states of a phase, by their names within it. */
export type States = Readonly<Record<string, PhaseConfig>>;
/** A phase before it knows its name: the key that the machine's page gives it. */
export type Phase = (key: string) => PhaseConfig;
/** Where a phase leads when it is over: another one, or one of several. */
export type Way =
  | string
  | readonly { readonly guard?: (_: { context: RunContext }) => boolean; readonly target: string }[];

interface Head extends Pick<StateMeta<RunContext, never>, 'title' | 'like' | 'slice' | 'when' | 'fallback'> {
  readonly onDone: Way;
  readonly tags?: readonly StateTag[];
}

/**
 * A phase of a runbook: a step of the rail, a section of the prose, a part of the plan and of the fallback
 * script. It begins with its first state, and is over with the state `over`, which leads out along its one
 * `onDone`.
 */
export function phase({ onDone, tags = [], ...meta }: Head, statesOf: (key: string) => States): Phase {
  return (key) => {
    const states = statesOf(key);
    return runbook.createStateConfig({
      id: key,
      tags: [...tags],
      meta,
      initial: Object.keys(states)[0] ?? '',
      states: { ...states, over: { type: 'final', meta: { title: `${meta.title}: over` } } },
      onDone: onDone as string,
    });
  };
}

/** Phases that a run passes only under a condition, beside what each of them says of itself. */
export function only(
  passes: (context: RunContext) => boolean,
  all: Readonly<Record<string, Phase>>,
): Record<string, Phase> {
  const restricted =
    (one: Phase): Phase =>
    (key) => {
      const config = one(key);
      const own = config.meta?.when;
      const when = (context: RunContext) => passes(context) && (own?.(context) ?? true);
      return { ...config, meta: { title: key, ...config.meta, when } };
    };
  return Object.fromEntries(Object.entries(all).map(([key, one]) => [key, restricted(one)]));
}

/** How a run ends. */
export function ending(title: string): Phase {
  return (id) => runbook.createStateConfig({ id, type: 'final', tags: ['done'], meta: { title } });
}

/** The endings that every runbook has under these names: its closing is told which of them was reached. */
type Endings = { readonly done: Phase; readonly unproven: Phase; readonly stopped: Phase };

/** The states of a machine: its phases by name, in order, and how it ends. */
export function phases(all: Readonly<Record<string, Phase>> & Endings): Record<string, PhaseConfig> {
  return Object.fromEntries(Object.entries(all).map(([key, one]) => [key, one(key)]));
}

/**
 * The states of a phase that asks a verb, and what to do where that fails; the types are checked where they
 * are written.
 */
export const state = runbook.createStateConfig;
