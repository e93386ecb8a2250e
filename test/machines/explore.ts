import { type AnyMachineSnapshot, initialTransition, transition } from 'xstate';
import { optionKey, type Question, type QuestionOption } from '../../machines/parts/question.ts';
import type { Runbook, StateMeta } from '../../machines/parts/runbook.ts';
import { metaAt as stateMetaAt, statePath } from '../../machines/parts/states.ts';
import type { Outcome } from './outcomes.ts';

/** A situation that a machine can be in, and one way there. */
export interface Situation {
  readonly snapshot: AnyMachineSnapshot;
  readonly path: readonly string[];
  /** True when the operator has confirmed since what the confirmation rests on last changed. */
  readonly confirmed: boolean;
}

export interface AnyEvent {
  readonly type: string;
}

export interface Exploration {
  readonly runbook: Runbook;
  readonly input: unknown;
  readonly outcomesOf: (verb: string) => readonly Outcome[];
  /** What later guards look at: situations that differ in nothing else count as one. */
  readonly identity: (snapshot: AnyMachineSnapshot) => unknown;
  /** What a confirmation rests on. */
  readonly basis: (snapshot: AnyMachineSnapshot) => unknown;
  /** Whether what was confirmed has been done: the confirmation is used up then. */
  readonly isUsed: (snapshot: AnyMachineSnapshot) => boolean;
}

/**
 * Every situation, found by giving every possible outcome and every open answer, each once for each
 * situation.
 */
export function explore({ runbook, input, outcomesOf, identity, basis, isUsed }: Exploration): Situation[] {
  const [snapshot] = initialTransition(runbook.machine, input as never);
  const first: Situation = { snapshot, path: [], confirmed: false };
  const nameOf = ({ snapshot: at, confirmed }: Situation) =>
    JSON.stringify([at.value, confirmed, identity(at)]);
  const seen = new Map([[nameOf(first), first]]);
  const queue = [first];
  for (let at = queue.shift(); at !== undefined; at = queue.shift()) {
    for (const event of eventsAt(runbook, at.snapshot, outcomesOf)) {
      const [next] = transition(runbook.machine, at.snapshot as never, event as never);
      const hasChanged = JSON.stringify(basis(next)) !== JSON.stringify(basis(at.snapshot));
      const situation: Situation = {
        snapshot: next,
        path: [...at.path, event.type],
        confirmed: !isUsed(next) && (event.type === 'operator.confirm' || (at.confirmed && !hasChanged)),
      };
      const name = nameOf(situation);
      if (seen.has(name)) continue;
      seen.set(name, situation);
      queue.push(situation);
    }
  }
  return [...seen.values()];
}

/** What may happen next: every outcome of the verb that is waited for, or every open answer. */
export function eventsAt(
  runbook: Runbook,
  snapshot: AnyMachineSnapshot,
  outcomesOf: (verb: string) => readonly Outcome[],
): AnyEvent[] {
  const [invoked] = Object.values(snapshot.children) as { readonly id: string; readonly src: unknown }[];
  if (invoked === undefined) return answersAt(runbook, snapshot);
  const outcomes = outcomesOf(String(invoked.src)).map((outcome) => outcomeEvent(invoked.id, outcome));
  return [...outcomes, ...besideAt(runbook, snapshot)];
}

/** Every answer that may be given while a verb is under way. */
function besideAt(runbook: Runbook, snapshot: AnyMachineSnapshot): AnyEvent[] {
  const options: readonly QuestionOption[] = metaAt(runbook, snapshot)?.beside?.(snapshot.context) ?? [];
  return options.map((option) =>
    option.needs === undefined ? option.event : { ...option.event, text: 'because' },
  );
}

/** How a verb's end reaches the machine. */
export function outcomeEvent(id: string, outcome: Outcome): AnyEvent & Record<string, unknown> {
  return 'error' in outcome
    ? { type: `xstate.error.actor.${id}`, actorId: id, error: outcome.error }
    : { type: `xstate.done.actor.${id}`, actorId: id, output: outcome.output };
}

/** Every answer that is open now, with words where they are needed. */
export function answersAt(runbook: Runbook, snapshot: AnyMachineSnapshot): AnyEvent[] {
  const question = questionAt(runbook, snapshot);
  if (question === undefined) return [];
  const options = question.options
    .filter((option) => option.disabled === undefined)
    .map((option) => (option.needs === undefined ? option.event : { ...option.event, text: 'because' }));
  const given = ownAnswers(question);
  return [...options, ...given];
}

function ownAnswers(question: Question): AnyEvent[] {
  if (question.kind === 'typed-name') return [event(question.event, { typed: question.expected })];
  if (question.kind === 'secret') return [event(question.event, { fingerprint: 'bbbbbbbbbbbb', length: 40 })];
  if (question.kind === 'time')
    return [question.earliest, question.latest].map((time) => event(question.event, { time }));
  if (question.kind === 'text')
    return [event(question.event, { text: '11111111-1111-4111-8111-111111111111' })];
  if (question.kind === 'followUps') {
    return question.followUps
      .filter(({ closed }) => closed === undefined)
      .flatMap(({ id, doable }) => [
        event(question.close, { id, text: 'done by hand' }),
        event(question.skip, { id, text: 'not needed' }),
        // What was begun before is answered by an option of its own.
        ...(doable === undefined || doable === 'again' ? [] : [event(question.doNow, { id })]),
      ]);
  }
  return [];
}

function event(type: string, fields: Readonly<Record<string, unknown>>): AnyEvent {
  return { type, ...fields };
}

function metaAt(runbook: Runbook, snapshot: AnyMachineSnapshot): StateMeta<unknown, never> | undefined {
  return stateMetaAt(runbook.machine, statePath(snapshot));
}

export function questionAt(runbook: Runbook, snapshot: AnyMachineSnapshot): Question | undefined {
  if (snapshot.status !== 'active') return undefined;
  return metaAt(runbook, snapshot)?.question?.(snapshot.context) as Question | undefined;
}

/** The keys of a question's options; no two may be the same. */
export function keysOf(question: Question): string[] {
  return question.options.map(({ event: option }) => optionKey(option));
}
