import type { Failure } from '../../src/base/failure.ts';
import { shellQuoted } from '../../src/base/shell-quote.ts';
import { touchesOfRun } from '../closing/evaluate.ts';
import type { RunContext } from '../context.ts';
import { type OtherWay, type Question, type QuestionOption, recoverCommand } from '../parts/question.ts';
import { landedOf } from '../parts/task-data.ts';
import type { RunQuestion } from './asking.ts';
import type { Edges, PhaseConfig } from './phase.ts';

type ErrorEvent = { event: { error: unknown } };
type TextEvent = { event: { text: string } };

const errorOf = ({ event }: ErrorEvent) => ({ error: event.error });

/** The failure is data in the context; the state shows it and asks. */
export function failTo<Target extends string>(target: Target) {
  return { target, actions: { type: 'keepFailure' as const, params: errorOf } };
}

/** Like `failTo`, but a lost answer leads to a question of its own. */
export function failOrDoubt<Doubt extends string, Target extends string>(doubt: Doubt, target: Target) {
  return [{ guard: { type: 'inDoubt' as const, params: errorOf }, ...failTo(doubt) }, failTo(target)];
}

/** Like `failTo`, but a task that the service reports as failed or gone leads elsewhere. */
export function failOrOver<Over extends string, Target extends string>(over: Over, target: Target) {
  return [{ guard: { type: 'taskIsOver' as const, params: errorOf }, ...failTo(over) }, failTo(target)];
}

interface FailureState {
  readonly step: string;
  readonly title: string;
  readonly ways: FailureWays;
  readonly retry: string;
  /** The target of skipping and of marking as done, if these are open. */
  readonly next?: string | undefined;
  /** The target of stopping; undefined if stopping is not offered. */
  readonly stop: string | undefined;
  readonly on?: Edges | undefined;
}

/** Retry, skip with a reason, done outside with evidence, stop; each open, or closed with a sentence. */
export function failure(given: FailureState): PhaseConfig {
  const { step, title, ways, retry, next, stop, on } = given;
  return {
    tags: ['question', 'failed'],
    meta: { title, question: askAboutFailure(ways) },
    on: {
      'operator.retry': { target: retry, actions: 'clearFailure' },
      ...(typeof ways.skip === 'string'
        ? { 'operator.skip': { target: next, actions: noteReason(step) } }
        : {}),
      ...(typeof ways.markDone === 'string'
        ? { 'operator.markDone': { target: next, actions: noteReason(step, 'done outside: ') } }
        : {}),
      ...(ways.stop === undefined ? { 'operator.stop': stop } : {}),
      ...on,
    },
  };
}

/** The operator's words become the reason why the step was passed. */
export function noteReason(step: string, before = '') {
  return {
    type: 'noteSkip' as const,
    params: ({ event }: TextEvent) => ({ step, reason: `${before}${event.text}` }),
  };
}

function askAboutFailure(ways: FailureWays) {
  return (context: RunContext): RunQuestion => {
    const others = otherWays(context);
    const question = failureQuestion(context.failure, ways);
    return { ...question, ...(others.length === 0 ? {} : { otherWays: others }) } as RunQuestion;
  };
}

/** A prompt or hint if it is open, `{disabled}` with the reason if not. */
export type WayOut = string | { readonly disabled: string };

export interface FailureWays {
  readonly retry: string;
  readonly skip: WayOut;
  readonly markDone: WayOut;
  /** What asking for another backup does; it needs a transition of its own. */
  readonly backUp?: string;
  /** A run with an open follow-up is left, not stopped. */
  readonly stop?: { readonly disabled: string };
}

/** Recommends no answer: a failure is never passed without a person. */
export function failureQuestion(failure: Failure | undefined, ways: FailureWays): Question {
  return {
    kind: 'choice',
    prompt: failure?.shortMessage ?? 'this step failed',
    options: [
      { event: { type: 'operator.retry' }, label: 'try again', hint: ways.retry },
      ...(ways.backUp === undefined
        ? []
        : [
            {
              event: { type: 'operator.backUp' as const },
              label: 'ask for another backup',
              hint: ways.backUp,
            },
          ]),
      skipOption(ways.skip),
      markDoneOption(ways.markDone),
      {
        event: { type: 'operator.stop' },
        label: 'stop the run',
        ...(ways.stop ?? { hint: 'the run is closed as stopped; keys and evidence stay' }),
      },
    ],
  };
}

function skipOption(way: WayOut): QuestionOption {
  const option = { event: { type: 'operator.skip' as const }, label: 'skip this step' };
  if (typeof way !== 'string') return { ...option, disabled: way.disabled };
  return { ...option, hint: way, needs: { what: 'reason', prompt: 'why is it skipped?' } };
}

function markDoneOption(way: WayOut): QuestionOption {
  const option = { event: { type: 'operator.markDone' as const }, label: 'it was done outside' };
  if (typeof way !== 'string') return { ...option, disabled: way.disabled };
  return {
    ...option,
    hint: 'the step counts as done on your word, and the record says so',
    needs: { what: 'evidence', prompt: way },
  };
}

/** Failures that last as long as the instance cannot be reached. */
const AWAY = /^service\.(?:unreachable|timeout|reset|error|not-found)$/u;

/** Failures that entering a key ends, with the words for it. */
const KEY_MISSING: Readonly<Record<string, string>> = {
  'key.not-stored': 'enter the key; it is asked for and not shown',
  'backup.wrong-key': 'if another key was in force: enter it; it is not shown',
};

/**
 * Commands that help where a retry may not: a source that does not answer may be lost, and can be recovered
 * without it. `isOver`: the run was stopped at this failure.
 */
export function otherWays(context: RunContext, isOver = false): readonly OtherWay[] {
  const { failure, run, source, restore } = context;
  if (failure === undefined) return [];
  const instance = shellQuoted(run.instance);
  const when = KEY_MISSING[failure.code];
  if (when !== undefined) {
    const leadsTo = { kind: 'add-key', instance: run.instance } as const;
    const then = isOver ? 'then begin again' : 'then try again';
    return [{ when: `${when}; ${then}`, command: `lifeboat keys add ${instance}`, leadsTo }];
  }
  const isOfSource =
    source.from === undefined &&
    landedOf(restore) === undefined &&
    touchesOfRun(context).source !== 'not-called';
  if (!isOfSource || !AWAY.test(failure.code)) return [];
  const named = run.target.kind === 'other' ? { target: run.target.name } : {};
  const target = named.target && shellQuoted(named.target);
  return [
    {
      when: `if ${run.instance} is lost: ${isOver ? '' : 'stop the run, '}recover it into a target`,
      command: recoverCommand(instance, target),
      leadsTo: { kind: 'recover', instance: run.instance, ...named },
    },
  ];
}
