import type { RunContext } from '../context.ts';
import type { StateMeta, StateTag } from '../parts/runbook.ts';
import { type Assigning, runbook } from '../setup.ts';
import type { InputOf, OutputOf, Verb } from '../verbs.ts';

export type PhaseConfig = Parameters<typeof runbook.createStateConfig>[0];
/** Edges by the answers that lead along them. */
export type Edges = NonNullable<PhaseConfig['on']>;
export type States = Readonly<Record<string, PhaseConfig>>;
/** A phase before it knows its name: the key that the machine's page gives it. */
export type Phase = (key: string) => PhaseConfig;
/**
 * Where an exit of a phase leads: the name of another phase, or `PHASE:DOOR` for a door that it has beside
 * its beginning.
 */
export type Exit = string;
/** Where a phase leads when it is over: to one phase, or to one of several. */
export type Way =
  | Exit
  | readonly { readonly guard?: (_: { context: RunContext }) => boolean; readonly target: Exit }[];
/** The exits of a phase. The page of a machine binds each to another phase; a phase has no exit besides. */
export type Exits<Name extends string = never> = { readonly done: Way } & {
  readonly [N in Name]: Exit;
};

interface Head extends Pick<StateMeta<RunContext, never>, 'title' | 'like' | 'slice' | 'when' | 'fallback'> {
  readonly exits: Exits & { readonly [name: string]: Way };
  readonly tags?: readonly StateTag[];
}

export function to(exit: Exit): string {
  return `#${exit}`;
}

/** The id of a state by which other phases may enter: an exit names it `PHASE:DOOR`. */
export function door(key: string, name: string): string {
  return `${key}:${name}`;
}

/**
 * A phase of a runbook: a step of the rail, a section of the prose, a part of the plan and of the fallback
 * script. It begins with its first state, and is over with the state `over`, which leads out along the exit
 * `done`.
 */
export function phase({ exits, tags = [], ...meta }: Head, statesOf: (key: string) => States): Phase {
  return (key) => {
    const states = statesOf(key);
    return runbook.createStateConfig({
      id: key,
      tags: [...tags],
      meta: { ...meta, exits },
      initial: Object.keys(states)[0] ?? '',
      states: { ...states, over: { type: 'final', meta: { title: `${meta.title}: over` } } },
      onDone: along(exits.done) as string,
    });
  };
}

function along(way: Way) {
  return typeof way === 'string' ? to(way) : way.map((one) => ({ ...one, target: to(one.target) }));
}

/** Phases that a run passes only under a condition, in addition to the condition of each. */
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

interface Invoking<V extends Verb> {
  readonly id: string;
  readonly src: V;
  readonly input: (of: { readonly context: RunContext }) => InputOf<V>;
  readonly onDone: { readonly target: string; readonly actions: Assigning<{ output: OutputOf<V> }> };
  readonly onError: unknown;
}

/** XState joins `src` with its input and output for a literal only, not for a verb that is a parameter. */
export function invoking<V extends Verb>(given: Invoking<V>) {
  return given as unknown as NonNullable<PhaseConfig['invoke']>;
}

export function ending(title: string): Phase {
  return (id) => runbook.createStateConfig({ id, type: 'final', tags: ['done'], meta: { title } });
}

/** The final states that every runbook has; its closing is told which one was reached. */
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
