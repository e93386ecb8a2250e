import type { RunContext } from '../context.ts';
import type { FailureWays } from '../parts/failure-question.ts';
import type { StateMeta, StateTag } from '../parts/runbook.ts';
import { keep as assignOf } from '../setup.ts';
import type { Verb as AnyVerb, InputOf, OutputOf } from '../verbs.ts';
import { failTo, failure } from './failing.ts';
import type { PhaseConfig, States } from './phase.ts';

interface Task<Verb extends AnyVerb>
  extends Pick<StateMeta<RunContext, never>, 'title' | 'calls' | 'does' | 'wayBack' | 'slice' | 'when'> {
  readonly verb: Verb;
  /** The name of the invocation, where it is not the verb's. */
  readonly id?: string;
  readonly tags?: readonly StateTag[];
  readonly input: (context: RunContext) => InputOf<Verb>;
  /** What the run knows afterwards. */
  readonly keep?: (context: RunContext, output: OutputOf<Verb>) => Partial<RunContext>;
  readonly next: string;
  /** What else happens where it fails. */
  readonly onError?: ErrorWay | readonly ErrorWay[];
  /** Where its failure leads: the state of another task, or one of its own. */
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
  readonly ways: FailureWays;
  readonly retry?: string;
  readonly next?: string;
  readonly stop?: string;
  readonly on?: Record<string, unknown>;
}

/** Asks a verb that may be asked again, under a name of the phase; `NAMEFailed` is the failure of its own. */
export function task<Verb extends AnyVerb>(name: string, given: Task<Verb>): States {
  const { verb, id = verb, tags = [], input, keep, next, failed, onError, ...meta } = given;
  const fails = typeof failed === 'string' ? failed : `${name}Failed`;
  return {
    [name]: {
      tags: [...tags],
      meta,
      invoke: {
        id,
        src: verb,
        input: ({ context }: { context: RunContext }) => input(context),
        onDone: {
          target: next,
          actions: assignOf<{ output: OutputOf<Verb> }>(({ context, event }) =>
            keep === undefined ? { failure: undefined } : keep(context, event.output),
          ),
        },
        onError: onError ?? failTo(fails),
      },
    } as unknown as PhaseConfig,
    ...(typeof failed === 'string' ? {} : { [fails]: failure({ retry: name, ...failed }) }),
  };
}
