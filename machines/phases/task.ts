import type { RunContext } from '../context.ts';
import type { QuestionOption } from '../parts/question.ts';
import type { PlannedCall, StateMeta, StateTag } from '../parts/runbook.ts';
import { type Assigning, assignWith, type RunEvent } from '../setup.ts';
import type { Verb as AnyVerb, InputOf, OutputOf } from '../verbs.ts';
import type { Option } from './asking.ts';
import { type FailureWays, failOrOver, failTo, failure } from './failing.ts';
import { type Edges, invoking, type PhaseConfig, type States } from './phase.ts';

export interface Task<Verb extends AnyVerb>
  extends Pick<
    StateMeta<RunContext, never>,
    'title' | 'calls' | 'does' | 'wayBack' | 'slice' | 'when' | 'warning'
  > {
  readonly verb: Verb;
  /** Default: the verb. */
  readonly id?: string;
  readonly tags?: readonly StateTag[];
  readonly door?: string;
  readonly input: (context: RunContext) => InputOf<Verb>;
  readonly keep?: (context: RunContext, output: OutputOf<Verb>) => Partial<RunContext>;
  readonly next: string;
  readonly onError?: ErrorWay | readonly ErrorWay[];
  /** The failure state: that of another task by name, or its own. */
  readonly failed: string | Failed;
}

type Failing = { readonly context: RunContext; readonly event: { readonly error: unknown } };
interface ErrorWay {
  readonly guard?: (failing: Failing) => boolean;
  readonly target: string;
  readonly actions?: unknown;
}

interface Failed {
  readonly step: string;
  readonly title: string;
  readonly door?: string;
  readonly ways: FailureWays;
  readonly retry?: string;
  readonly next?: string;
  readonly stop: string | undefined;
  readonly on?: Edges;
}

/** A repeatable verb, and `NAMEFailed`, its failure state. */
export function task<Verb extends AnyVerb>(name: string, given: Task<Verb>): States {
  const { verb, id = verb, tags = [], door, input, keep, next, failed, onError, ...meta } = given;
  const fails = typeof failed === 'string' ? failed : `${name}Failed`;
  return {
    [name]: {
      ...(door === undefined ? {} : { id: door }),
      tags: [...tags],
      meta,
      invoke: invoking({
        id,
        src: verb,
        input: ({ context }) => input(context),
        onDone: {
          target: next,
          actions: assignWith<{ output: OutputOf<Verb> }>(({ context, event }) =>
            keep === undefined ? { failure: undefined } : keep(context, event.output),
          ),
        },
        onError: onError ?? failTo(fails),
      }),
    },
    ...(typeof failed === 'string'
      ? {}
      : { [fails]: { ...(failed.door && { id: failed.door }), ...failure({ retry: name, ...failed }) } }),
  };
}

interface Waiting<Verb extends 'waitForBackup' | 'waitForRestore' | 'waitForInstance'> {
  readonly key: string;
  readonly verb: Verb;
  /** With its article: `the backup of the present state`. */
  readonly what: string;
  readonly title: string;
  readonly input: (context: RunContext) => InputOf<Verb>;
  readonly calls: readonly PlannedCall[];
  readonly onDone: { readonly target: string; readonly actions: Assigning<{ output: OutputOf<Verb> }> };
  /** The service says that the task failed or is gone. */
  readonly onOver?: string;
  readonly tags?: readonly 'sent'[];
  /** The prompt for a person's evidence, and the transition. */
  readonly done?: { readonly prompt: string; readonly way: NonNullable<Edges['operator.markDone']> };
  readonly failed: PhaseConfig;
}

/** Asks when the task can no longer be seen. */
export function waiting<Verb extends 'waitForBackup' | 'waitForRestore' | 'waitForInstance'>(
  given: Waiting<Verb>,
): States {
  const { verb, what, title, input, calls, onDone, onOver, tags = [], done, failed } = given;
  return {
    waiting: {
      tags: ['waiting', ...tags],
      meta: { title, calls, beside: () => besideWaiting(done?.prompt) },
      on: {
        'operator.lookAgain': { target: 'waiting', reenter: true },
        'operator.giveUp': { target: 'waitFailed', actions: { type: 'keepGivenUp', params: { what } } },
        ...(done === undefined ? {} : { 'operator.markDone': done.way }),
      },
      invoke: invoking({
        id: given.key === 'backup' || verb !== 'waitForBackup' ? verb : `${verb}-${given.key}`,
        src: verb,
        input: ({ context }) => input(context),
        onDone,
        onError: onOver === undefined ? failTo('waitFailed') : failOrOver(onOver, 'waitFailed'),
      }),
    },
    waitFailed: tags.length === 0 ? failed : { ...failed, tags: [...((failed.tags ?? []) as []), ...tags] },
  };
}

/** `done` is the prompt for evidence; undefined if only the service can tell. */
function besideWaiting(done?: string) {
  const options: readonly Option[] = [
    {
      event: { type: 'operator.lookAgain' },
      label: 'look again now',
      hint: 'asks the service now, then goes on waiting; nothing is sent',
    },
    ...(done === undefined
      ? []
      : [
          {
            event: { type: 'operator.markDone' as const },
            label: 'it is done: go on',
            hint: 'it counts as done on your word, and the record says so',
            needs: { what: 'evidence' as const, prompt: done },
          },
        ]),
    {
      event: { type: 'operator.giveUp' },
      label: 'give up waiting',
      hint: 'shows your options; the service goes on by itself, and nothing is sent',
    },
  ];
  return options as readonly QuestionOption<RunEvent>[];
}
