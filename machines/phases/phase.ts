import type { RunContext } from '../context.ts';
import type { StateMeta, StateTag } from '../parts/runbook.ts';
import { type Assigning, runbook } from '../setup.ts';
import type { InputOf, OutputOf, Verb } from '../verbs.ts';

export type PhaseConfig = Parameters<typeof runbook.createStateConfig>[0];
/** By the answers that lead along them. */
export type Edges = NonNullable<PhaseConfig['on']>;
export type States = Readonly<Record<string, PhaseConfig>>;
/** A phase that does not know its name yet: its key on the machine's page. */
export type Phase = (key: string) => PhaseConfig;
/** The name of another phase, or `PHASE:DOOR` for a door that it has beside its beginning. */
export type Exit = string;
export type Way =
  | Exit
  | readonly { readonly guard?: (_: { context: RunContext }) => boolean; readonly target: Exit }[];
/** The page of a machine binds each exit to another phase; a phase has no other exits. */
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

/** The id of a state that other phases may enter: an exit names it `PHASE:DOOR`. */
export function door(key: string, name: string): string {
  return `${key}:${name}`;
}

/**
 * A step of the rail, a section of the prose, a part of the plan and of the fallback script. It begins with
 * its first state and ends with `over`, which leads out along the exit `done`.
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

/** Adds a condition to that of each phase. */
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

/** XState infers input and output from a literal `src` only, not from a verb that is a parameter. */
export function invoking<V extends Verb>(given: Invoking<V>) {
  return given as unknown as NonNullable<PhaseConfig['invoke']>;
}

export function ending(title: string): Phase {
  return (id) => runbook.createStateConfig({ id, type: 'final', tags: ['done'], meta: { title } });
}

/** The final states of every runbook; its closing gets the one that was reached. */
type Endings = { readonly done: Phase; readonly unproven: Phase; readonly stopped: Phase };

/** The phases by name, in order, then the endings. */
export function phases(all: Readonly<Record<string, Phase>> & Endings): Record<string, PhaseConfig> {
  return Object.fromEntries(Object.entries(all).map(([key, one]) => [key, one(key)]));
}

/** For states outside of `task`; checks the types where the state is written. */
export const state = runbook.createStateConfig;
