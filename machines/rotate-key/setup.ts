import { assign, setup } from 'xstate';
import { actors } from '../actors.ts';
import { givenUp } from '../parts/beside-waiting.ts';
import { failureFrom } from '../parts/failure.ts';
import { groundDifferences } from '../parts/ground.ts';
import { counted } from '../parts/quantity.ts';
import type { StateMeta, StateTag } from '../parts/runbook.ts';
import type * as verbs from '../parts/verbs.ts';
import type { RotateKeyContext, RotateKeyEvent, RotateKeyInput } from './context.ts';

/** Types, verbs, guards and actions of the rotation; the states are in rotate-key.ts. */
export const rotation = setup({
  types: {
    context: {} as RotateKeyContext,
    events: {} as RotateKeyEvent,
    input: {} as RotateKeyInput,
    tags: {} as StateTag,
    meta: {} as StateMeta<RotateKeyContext, RotateKeyEvent>,
  },
  actors,
  guards: {
    isBlocked: ({ context }) => (context.facts?.blockers.length ?? 0) > 0,
    /** A service that does not say whether a backup can be downloaded is taken at its best: trying does no harm. */
    hasNothingToProve: ({ context }) =>
      context.facts?.newest === undefined || context.facts.newest.downloadable === false,
    nameMatches: ({ context, event }) =>
      event.type === 'operator.confirm' && event.typed === context.instance,
    groundHasShifted: ({ context }) => context.drift.length > 0,
    answerWasLost: ({ context }) => context.setting?.answer === 'unknown',
    backupHasLanded: ({ context }) => context.backup !== undefined,
    mayAskAgain: ({ context }) => context.absences < 3,
    newKeyOpens: ({ context }) => context.verification?.opens === context.key?.fingerprint,
    anOldKeyOpens: ({ context }) => (context.negative?.opened.length ?? 0) > 0,
    /** The service says that the backup failed or is gone; anything else only means that it cannot be seen now. */
    isOver: (_, params: { error: unknown }) =>
      ['backup.failed', 'backup.deleted'].includes(failureFrom(params.error).code),
    isDoubt: (_, params: { error: unknown }) => failureFrom(params.error).code.startsWith('doubt.'),
  },
  actions: {
    keepFailure: assign({ failure: (_, params: { error: unknown }) => failureFrom(params.error) }),
    keepGivenUp: assign({ failure: (_, { what }: { what: string }) => givenUp(what) }),
    keepFirstBlocker: assign({ failure: ({ context }) => context.facts?.blockers[0] }),
    clearFailure: assign({ failure: undefined }),
    noteSkip: assign({
      failure: undefined,
      skipped: ({ context }, params: { step: string; reason: string }) => [
        ...context.skipped,
        { step: params.step, reason: params.reason },
      ],
    }),
    nextIntent: assign({ intents: ({ context }) => context.intents + 1, backup: undefined }),
    /** A person has looked: the count of requests that never arrived begins anew. */
    forgetAbsences: assign({ absences: 0 }),
    keepAbsence: assign({
      failure: ({ context }) => ({
        code: 'service.never-arrived',
        shortMessage: `the request for a backup was sent ${counted(context.absences, 'time')} and never arrived`,
        hints: [
          'each time the service showed that nothing had happened',
          'look at the way to the service, then try again',
        ],
        evidence: {},
      }),
    }),
    keepGround: assign({
      facts: ({ context }, params: { ground: verbs.Ground }) =>
        context.facts && { ...context.facts, ground: params.ground },
      drift: [],
    }),
    keepDrift: assign({
      facts: ({ context }, params: { ground: verbs.Ground }) =>
        context.facts && { ...context.facts, ground: params.ground },
      drift: ({ context }, params: { ground: verbs.Ground }) =>
        context.facts === undefined ? [] : groundDifferences(context.facts.ground, params.ground),
    }),
  },
});
