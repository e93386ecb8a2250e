import { assign, setup } from 'xstate';
import { actors } from '../actors.ts';
import { givenUp } from '../parts/beside-waiting.ts';
import { type Failure, failureFrom } from '../parts/failure.ts';
import { groundDifferences, newRestores, targetDifferences } from '../parts/ground.ts';
import type { PlatformProof, TargetFacts } from '../parts/recovery-verbs.ts';
import type { StateMeta, StateTag } from '../parts/runbook.ts';
import type * as verbs from '../parts/verbs.ts';
import type { RecoveryContext, RecoveryInput, TaskState } from './context.ts';
import type { RecoveryEvent, TaskName } from './events.ts';
import { neverDone } from './never-done.ts';
import { type PaidStep, settled, withDuties, withOldBinding, withReleaseOwed } from './obligations.ts';
import * as weigh from './weigh.ts';

/** Types, verbs, guards and actions of all recoveries; the states are given by the functions beside this file. */
export const recovery = setup({
  types: {
    context: {} as RecoveryContext,
    events: {} as RecoveryEvent,
    input: {} as RecoveryInput,
    tags: {} as StateTag,
    meta: {} as StateMeta<RecoveryContext, RecoveryEvent>,
  },
  actors,
  guards: {
    isBlocked: ({ context }) => (context.facts?.blockers.length ?? 0) > 0,
    nameMatches: ({ context, event }, params: { of: 'instance' | 'target' }) =>
      'typed' in event && event.typed === context[params.of],
    hasShifted: ({ context }) => context.drift.length > 0,
    hasLanded: ({ context }, params: { task: TaskName }) => context[params.task].landed !== undefined,
    mayAskAgain: ({ context }, params: { task: TaskName }) => context[params.task].absences < 3,
    isPrepare: ({ context }) => context.mode === 'prepare',
    isPerform: ({ context }) => context.mode === 'perform',
    isChosenAlready: ({ context }) =>
      context.backups?.newest.some(({ id }) => id === context.asked.backup) ?? false,
    isTimeChosenAlready: ({ context }) => weigh.isReachable(context, context.asked.time),
    isTimeReachable: ({ context }) => weigh.isReachable(context, context.time),
    canBeChosen: ({ context, event }) =>
      event.type === 'operator.chooseTime' && weigh.isReachable(context, event.time),
    /** The interface of the instance has no call that says how it is. */
    isUnsaid: ({ context }) => context.facts?.unsaid !== undefined,
    isListed: ({ context, event }) =>
      event.type === 'operator.chooseBackup' &&
      (context.backups?.newest.some(({ id }) => id === event.id) ?? false),
    hasDuties: ({ context }) => context.duties !== undefined,
    answerWasLost: ({ context }) => context.setting?.answer === 'unknown',
    hasNoGuid: ({ context }) => context.guid === undefined,
    idsAgree: ({ context }) => weigh.agreesWithIds(context) === true,
    idsSayNothing: ({ context }) => weigh.agreesWithIds(context) === undefined,
    isProvenOnRecord: ({ context }) =>
      context.key === undefined && weigh.provenOnRecord(context) !== undefined,
    newKeyOpens: ({ context }) =>
      context.key === undefined || context.verification?.opens === context.key.fingerprint,
    anotherKeyOpens: ({ context }) => (context.negative?.opened.length ?? 0) > 0,
    isAskedFor: ({ context }) => context.asked.guid !== undefined,
    hasCard: ({ context }) => context.onRecord?.card !== undefined,
    isTargetBlocked: ({ context }) => weigh.openBlocker(context) !== undefined,
    isLookedAt: ({ context }) => context.before !== undefined,
    freshDisagrees: ({ context }) => weigh.isGuidOf(context.guid, context.fresh.backup?.backupId) === false,
    /** Whether this run has shown what it exists for: everything runs on data that is back, or the instance is back after its action. */
    isShown: ({ context }) =>
      context.action === undefined ? weigh.isRecovered(context) : weigh.hasActed(context),
    isOwed: ({ context, event }) => weigh.isOwed(context, 'id' in event ? String(event.id) : undefined),
    owesNothing: ({ context }) => context.obligations.every((one) => one.settled !== undefined),
    owesFreshOnly: ({ context }) => weigh.isOwedByRunOnly(context) && weigh.isOwed(context, 'fresh-backup'),
    owesCardOnly: ({ context }) => weigh.isOwedByRunOnly(context) && weigh.isOwed(context, 'renew-card'),
    paysNext: ({ context }) => context.payingAll && weigh.nextPayable(context) !== undefined,
    paysFresh: ({ context }) => context.paying === 'fresh-backup',
    paysCard: ({ context }) => context.paying === 'renew-card',
    paysRelease: ({ context }) => context.paying === 'release-updates',
    paysKey: ({ context }) => weigh.paidKey(context) !== undefined,
    paysBeside: ({ context }) => weigh.paidApp(context) !== undefined && weigh.bindsBeside(context),
    paysApp: ({ context }) => weigh.paidApp(context) !== undefined,
    bindsBeside: ({ context }) => weigh.bindsBeside(context),
    mayFreeze: ({ context }) => context.updatesChangeable?.changeable === true,
    /** Maintenance updates are forbidden, or may be: the answer can have been lost. */
    isFrozen: ({ context }) => weigh.isOwed(context, 'release-updates'),
    mayBeInForce: (_, params: { error: unknown }) =>
      failureFrom(params.error).evidence['mayBeInForce'] === true,
    isStopping: ({ context }) => context.stopping,
    isUpdate: ({ context }) => context.action === 'update',
    isRestart: ({ context }) => context.action === 'restart',
    isRecreate: ({ context }) => context.action === 'recreate',
    /** The service says that the task failed or is gone; anything else only means that it cannot be seen now. */
    isOver: (_, params: { error: unknown }) =>
      ['backup.failed', 'backup.deleted', 'restore.failed', 'restore.deleted'].includes(
        failureFrom(params.error).code,
      ),
    /** The restored data is elsewhere, and the platform said that its broker failed: the old binding stands in nobody's way. */
    canBindWithout: ({ context }, params: { error: unknown }) =>
      weigh.restoredSide(context) === 'target' && failureFrom(params.error).code === 'platform.failed',
    restoreBegan: ({ context }, params: { ground: verbs.Ground }) =>
      newRestores(context.facts?.ground, params.ground).length > 0,
    isDoubt: (_, params: { error: unknown }) => failureFrom(params.error).code.startsWith('doubt.'),
  },
  actions: {
    keepFailure: assign({ failure: (_, params: { error: unknown }) => failureFrom(params.error) }),
    /** A step at the platform that failed leaves its obligation to a person; the next ones do not wait for that. */
    keepPaymentFailure: assign({
      failure: (_, params: { error: unknown }) => failureFrom(params.error),
      // A platform that asks to be left alone, or cannot be reached, is not asked for the next one either.
      payingAll: ({ context }, params: { error: unknown }) =>
        context.payingAll && !weigh.isForAll(failureFrom(params.error)),
      stuck: ({ context }) => [...context.stuck, ...(context.paying === undefined ? [] : [context.paying])],
      paying: undefined,
    }),
    keepGivenUp: assign({ failure: (_, { what }: { what: string }) => givenUp(what) }),
    keepFirstBlocker: assign({ failure: ({ context }) => context.facts?.blockers[0] }),
    clearFailure: assign({ failure: undefined }),
    noteSkip: assign({
      failure: undefined,
      skipped: ({ context }, params: { step: string; reason: string }) => [...context.skipped, { ...params }],
    }),
    nextIntent: assign(({ context }, { task }: { task: TaskName }) =>
      withTask(context, task, { intents: context[task].intents + 1, landed: undefined }),
    ),
    /** A person has looked: the count of requests that never arrived begins anew. */
    forgetAbsences: assign(({ context }, { task }: { task: TaskName }) =>
      withTask(context, task, { absences: 0 }),
    ),
    keepTriggered: assign(
      ({ context }, { task, output }: { task: TaskName; output: verbs.Triggered | verbs.Started }) => ({
        failure: undefined,
        ...withTask(context, task, landing(context[task], output)),
      }),
    ),
    adopt: assign(({ context }, { task, id }: { task: TaskName; id: number }) => ({
      failure: undefined,
      ...withTask(context, task, { landed: { id, adopted: true } }),
    })),
    keepTask: assign(({ context }, { task, ...facts }: { task: TaskName } & Partial<TaskState>) => ({
      failure: undefined,
      ...withTask(context, task, facts),
    })),
    keepAbsence: assign({
      failure: ({ context }, { task, what }: { task: TaskName; what: string }) =>
        neverDone(context[task], what),
    }),
    keepGround: assign({
      facts: ({ context }, params: { ground: verbs.Ground }) =>
        context.facts && { ...context.facts, ground: params.ground },
      failure: undefined,
      drift: [],
    }),
    /** The ground stays what it was: the restore counts as new until somebody has seen it. */
    keepRestoreMeanwhile: assign({
      failure: ({ context }, params: { ground: verbs.Ground }): Failure => {
        const ids = newRestores(context.facts?.ground, params.ground);
        return {
          code: 'service.restore-running',
          shortMessage: `restore ${ids.join(', ')} of ${context.instance} is under way`,
          hints: [`to wait for it: lifeboat restores get ${ids[0]} --wait --instance ${context.instance}`],
          evidence: { restores: [...ids] },
        };
      },
    }),
    keepDrift: assign({
      facts: ({ context }, params: { ground: verbs.Ground }) =>
        context.facts && { ...context.facts, ground: params.ground },
      failure: undefined,
      drift: ({ context }, params: { ground: verbs.Ground }) =>
        context.facts === undefined ? [] : groundDifferences(context.facts.ground, params.ground),
    }),
    keepTarget: assign({
      targetFacts: (_, params: { facts: TargetFacts }) => params.facts,
      failure: undefined,
      drift: [],
    }),
    keepTargetDrift: assign({
      targetFacts: (_, params: { facts: TargetFacts }) => params.facts,
      failure: undefined,
      drift: ({ context }, params: { facts: TargetFacts }) =>
        context.targetFacts === undefined
          ? []
          : targetDifferences(context.targetFacts.identity, params.facts.identity),
    }),
    keepReady: assign({
      ready: (_, params: { ready: verbs.InstanceReady }) => params.ready,
      failure: undefined,
    }),
    keepRecorded: assign({ recorded: true, failure: undefined }),
    /** The operator lets the platform do all that it can. */
    beginPaying: assign({ payingAll: true, stuck: [], failure: undefined }),
    /** What speaks against the target is overridden, and the record says by whom and why. */
    override: assign(({ context }, { reason }: { reason: string }) => ({
      overridden: [...context.overridden, context.failure?.code ?? ''],
      skipped: [...context.skipped, { step: 'target', reason: `${context.failure?.code}: ${reason}` }],
      failure: undefined,
    })),
    openObligations: assign(({ context }) => withDuties(context)),
    oweRelease: assign(({ context }) => withReleaseOwed(context)),
    /** The setting was not taken, so there is none to put back. */
    forgetRelease: assign({
      obligations: ({ context }) => context.obligations.filter(({ id }) => id !== 'release-updates'),
    }),
    settleByHand: assign(({ context }, { id, text }: { id: string; text: string }) => ({
      failure: undefined,
      ...settled(context, id, { how: 'hand', text, evidence: {} }),
    })),
    skipObligation: assign(({ context }, { id, text }: { id: string; text: string }) => ({
      failure: undefined,
      ...settled(context, id, { how: 'skipped', text, evidence: {} }),
      skipped: [...context.skipped, { step: id, reason: text }],
    })),
    settleByRun: assign(
      ({ context }, { id, text, at }: { id: string; text: string; at?: string | undefined }) => ({
        failure: undefined,
        paying: undefined,
        ...settled(context, id, { how: 'run', text, ...(at === undefined ? {} : { at }), evidence: {} }),
      }),
    ),
    pay: assign((_, { id }: { id: string }) => ({ paying: id, proofs: [], stuck: [], failure: undefined })),
    payNext: assign(({ context }) => ({
      paying: weigh.nextPayable(context)?.id,
      proofs: [],
    })),
    keepProof: assign(({ context }, { step, proof }: { step: PaidStep; proof: PlatformProof }) => ({
      proofs: [...context.proofs, { step, proof }],
    })),
    oweOldBinding: assign(({ context }, params: { error: unknown }) =>
      withOldBinding(context, failureFrom(params.error)),
    ),
    settlePaid: assign(({ context }, { step, proof }: { step: PaidStep; proof: PlatformProof }) => {
      const proofs = [...context.proofs, { step, proof }];
      const how = context.duties?.way ?? 'hand';
      const last = proofs.at(-1)?.proof;
      return {
        proofs: [],
        paying: undefined,
        // What has failed in the same row is still to be looked at.
        failure: context.stuck.length === 0 ? undefined : context.failure,
        ...settled(context, context.paying ?? '', {
          how: step === 'prove' ? 'hand' : how,
          text: proofs.map((one) => one.proof.text).join('; '),
          ...(last?.at === undefined ? {} : { at: last.at }),
          evidence: Object.fromEntries(proofs.map((one) => [one.step, one.proof.evidence])),
        }),
      };
    }),
  },
});

/** A task with some of its fields changed, as a part of the context. */
function withTask(
  context: RecoveryContext,
  task: TaskName,
  change: { readonly [Field in keyof TaskState]?: TaskState[Field] | undefined },
): Partial<RecoveryContext> {
  return { [task]: { ...context[task], ...change } };
}

function landing({ absences }: TaskState, output: verbs.Triggered | verbs.Started) {
  if (!output.landed) {
    const { lost, evidence } = output;
    return { landed: undefined, absences: absences + 1, absence: { lost, evidence } };
  }
  return { landed: { id: 'id' in output ? output.id : 0, adopted: output.adopted }, absences: 0 };
}
