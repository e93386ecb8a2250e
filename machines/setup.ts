import {
  type ActionFunction,
  assign,
  type EventObject,
  fromPromise,
  type PromiseActorLogic,
  setup,
} from 'xstate';
import { type Failure, failureFrom } from '../src/base/failure.ts';
import type { RunContext } from './context.ts';
import type { RunInput } from './inputs.ts';
import type { ApprovalExpired } from './parts/approval-question.ts';
import type { StateMeta, StateTag } from './parts/runbook.ts';
import { type InputOf, type OutputOf, VERBS, type Verb } from './verbs.ts';

/** The runner performs the verbs; in any other runtime a machine fails with an error. */
const actors = Object.fromEntries(
  Object.keys(VERBS).map((verb) => [
    verb,
    fromPromise(() => {
      throw new Error(`the runner performs ${verb}`);
    }),
  ]),
) as unknown as { readonly [V in Verb]: PromiseActorLogic<OutputOf<V>, InputOf<V>> };

/** Guards and actions are beside the phase that uses them; only shared ones are here. */
export const runbook = setup({
  types: {
    context: {} as RunContext,
    events: {} as AnyEvent,
    input: {} as RunInput,
    tags: {} as StateTag,
    meta: {} as StateMeta<RunContext, RunEvent>,
  },
  actors,
  guards: {
    inDoubt: (_, params: { error: unknown }) => failureFrom(params.error).code.startsWith('doubt.'),
    /** The service says that the task failed or is gone; other failures only hide it. */
    taskIsOver: (_, params: { error: unknown }) =>
      ['backup.failed', 'backup.deleted', 'backup.unopenable', 'restore.failed', 'restore.deleted'].includes(
        failureFrom(params.error).code,
      ),
  },
  actions: {
    keepFailure: assign({ failure: (_, params: { error: unknown }) => failureFrom(params.error) }),
    keepGivenUp: assign({ failure: (_, { what }: { what: string }) => givenUp(what) }),
    clearFailure: assign({ failure: undefined }),
    noteSkip: assign({
      failure: undefined,
      skipped: ({ context }, params: { step: string; reason: string }) => [...context.skipped, { ...params }],
    }),
  },
});

export type RunMachine = ReturnType<typeof runbook.createMachine>;

/** The operator ended the wait; the task may still finish. */
export function givenUp(what: string): Failure {
  return {
    code: 'wait.given-up',
    shortMessage: `you gave up waiting for ${what}; the service may still go on with it`,
    hints: [
      `trying again waits for ${what} again, and sends nothing`,
      'leaving is safe as well: `lifeboat resume` goes on from here',
      'the dashboard shows its state',
    ],
    evidence: {},
  };
}

/** `assign` for transitions outside of `createMachine`, where XState cannot infer the event. */
export function assignWith<Event extends object = object>(
  change: (given: { readonly context: RunContext; readonly event: Event }) => Partial<RunContext>,
): Assigning<NoInfer<Event>> {
  return assign(change as never) as never;
}

export type Assigning<Event> = ActionFunction<
  RunContext,
  EventObject & Event,
  AnyEvent,
  undefined,
  never,
  never,
  never,
  never,
  never
>;

/** Also clears the failure. */
export function changed<Slice extends Exclude<keyof RunContext, 'failure' | 'skipped'>>(
  context: RunContext,
  slice: Slice,
  fields: { readonly [Field in keyof RunContext[Slice]]?: RunContext[Slice][Field] | undefined },
): Partial<RunContext> {
  return { failure: undefined, [slice]: { ...context[slice], ...fields } };
}

/** All events except the results of verbs. */
type AnyEvent = RunEvent | ApprovalExpired;

/** `text` is a reason, evidence or a word, as the question says. */
export type RunEvent =
  | { type: 'operator.chooseBackup'; id: number }
  | { type: 'operator.chooseTime'; time: string }
  | { type: 'operator.backUp' }
  | { type: 'operator.prove' }
  | { type: 'operator.archive' }
  | { type: 'operator.goOn' }
  | { type: 'operator.goOnWithout'; text: string }
  | { type: 'operator.holdBack'; text: string }
  | { type: 'operator.rotate' }
  | { type: 'operator.generate' }
  | { type: 'operator.enterKey' }
  | { type: 'operator.provideKey'; fingerprint: string; length: number }
  | { type: 'operator.useKey'; fingerprint: string }
  | { type: 'operator.setAgain' }
  | { type: 'operator.takeGuid'; text: string }
  | { type: 'operator.useNewest' }
  | { type: 'operator.useBackup'; guid: string }
  | { type: 'operator.typeGuid' }
  | { type: 'operator.provideGuid'; text: string }
  | { type: 'operator.override'; typed: string }
  | { type: 'operator.back' }
  | { type: 'operator.confirm'; typed: string }
  | { type: 'operator.adopt'; id: number }
  | { type: 'operator.hasBegun'; text: string }
  | { type: 'operator.lookAgain' }
  | { type: 'operator.giveUp' }
  | { type: 'operator.sendAgain' }
  | { type: 'operator.doAll' }
  | { type: 'operator.doNow'; id: string }
  | { type: 'operator.reportDone'; id: string; text: string }
  | { type: 'operator.skip'; id?: string; text: string }
  | { type: 'operator.runAgain'; id: string }
  | { type: 'operator.proveApp'; id: string }
  | { type: 'operator.retry' }
  | { type: 'operator.markDone'; text: string }
  | { type: 'operator.stop' };
