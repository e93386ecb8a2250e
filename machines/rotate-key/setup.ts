import { assign, fromPromise, setup } from 'xstate';
import { givenUp } from '../parts/beside-waiting.ts';
import { failureFrom } from '../parts/failure.ts';
import { groundDifferences } from '../parts/ground.ts';
import { counted } from '../parts/quantity.ts';
import type { StateMeta, StateTag } from '../parts/runbook.ts';
import type * as verbs from '../parts/verbs.ts';
import type { RotateKeyContext, RotateKeyEvent, RotateKeyInput } from './context.ts';

/** A verb's signature; the runner performs it. A machine that is run by anything else fails loudly. */
function verb<Output, Input>() {
  return fromPromise<Output, Input>(() => {
    throw new Error('verbs are performed by the runner');
  });
}

/** Types, verbs, guards and actions of the rotation; the states are in rotate-key.ts. */
export const rotation = setup({
  types: {
    context: {} as RotateKeyContext,
    events: {} as RotateKeyEvent,
    input: {} as RotateKeyInput,
    tags: {} as StateTag,
    meta: {} as StateMeta<RotateKeyContext, RotateKeyEvent>,
  },
  actors: {
    preflight: verb<verbs.PreflightFacts, { instance: string; restores: true }>(),
    recheck: verb<verbs.Ground, { instance: string }>(),
    downloadBackup: verb<
      verbs.DownloadedFile,
      { id: number; size?: number | undefined; purpose: 'prove' | 'archive' }
    >(),
    verifyBackup: verb<
      verbs.Verification,
      {
        path: string;
        backup: number;
        /** The key that should open it; the others are tried after it. */
        expected?: string | undefined;
        /** Remove the file once it is verified. */
        discard?: boolean;
      }
    >(),
    storeKey: verb<
      verbs.StoredKey,
      {
        origin: 'generated' | 'given';
        given?: { fingerprint: string; length: number } | undefined;
        minLength: number;
      }
    >(),
    readBackKey: verb<verbs.StoredKey, { key: verbs.StoredKey }>(),
    setKey: verb<verbs.KeySetting, { fingerprint: string; previous?: string | undefined }>(),
    createBackup: verb<verbs.Triggered, { intent: string }>(),
    waitForBackup: verb<verbs.BackupFacts, { id: number }>(),
    negativeTest: verb<verbs.NegativeTest, { path: string; except: string }>(),
    recordRotation: verb<verbs.Recorded, { record: verbs.RotationRecord }>(),
  },
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
