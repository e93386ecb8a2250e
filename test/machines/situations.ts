import type { AnyMachineSnapshot } from 'xstate';
import { hasActed, isReachable, isRestored } from '../../machines/closing/evaluate.ts';
import type { RunContext } from '../../machines/context.ts';
import type { Runbook } from '../../machines/parts/runbook.ts';
import { statePath } from '../../machines/parts/states.ts';
import { stillOpen } from '../../machines/parts/unfinished.ts';
import { explore, type Situation } from './explore.ts';
import { outcomesOf } from './recovery-outcomes.ts';

/** Every situation that a run with this input can be in. */
export function situationsOf(runbook: Runbook, input: object): Situation[] {
  return explore({ runbook, input, outcomesOf, identity, basis, isUsed });
}

/** Where it matters which follow-up is worked on. */
const DOING = ['unbinding', 'binding', 'restaging', 'renewingKey', 'reconnecting', 'proving'].map(
  (state) => `followUps.${state}`,
);

function basis(snapshot: AnyMachineSnapshot): unknown {
  const { preflight, choose, source, target, key, restore, act } = snapshot.context as RunContext;
  const intents = [restore.intents, act.intents];
  return [
    preflight.facts?.baseline,
    choose.backup?.id,
    choose.time,
    source.from,
    target.facts?.identity,
    key.stored?.fingerprint,
    intents,
  ];
}

function isUsed({ context }: AnyMachineSnapshot): boolean {
  const { restore, act } = context as RunContext;
  return [restore, act].some(({ send, outside }) => send.is === 'landed' || outside !== undefined);
}

/** What later guards look at. Once the confirmed change is under way, what led to it no longer matters. */
function identity(snapshot: AnyMachineSnapshot): unknown {
  const context = snapshot.context as RunContext;
  const { restore, fresh, followUps } = context;
  const { bound, list } = followUps;
  if (!isUsed(snapshot)) {
    const { confirm, safeguard, backup, choose } = context;
    const isTasked = /^(?:safeguard|backup)\./.test(statePath(snapshot));
    const tasks = isTasked
      ? [safeguard, backup].map(({ send, absences }) => [send.is === 'landed', absences])
      : [backup.send.is === 'landed'];
    return [
      context.preflight.facts?.unsaid !== undefined,
      context.preflight.facts?.escrow !== undefined,
      confirm.drift.length > 0,
      tasks,
      isReachable(choose.range, choose.time),
      choose.time,
      choose.backup?.id,
      restore.absences > 0,
      ...peace(context, statePath(snapshot)),
    ];
  }
  const isTaking = statePath(snapshot).startsWith('fresh.');
  return [
    context.preflight.facts?.unsaid !== undefined,
    isTaking ? [fresh.send.is === 'landed', fresh.absences] : [],
    [isRestored(context), hasActed(context)],
    stillOpen(list)
      .map(({ id, doable }) => `${id} ${doable}`)
      .sort(),
    followUps.isOpened,
    DOING.includes(statePath(snapshot)) ? [followUps.doing, followUps.doingAll] : [],
    bound?.way,
    bound?.platform,
    context.card.onRecord?.card !== undefined && list.length === 0,
    context.updates.setting !== undefined,
    context.updates.isStopping,
  ];
}

/** What runs before the call, or without one, look at. */
function peace(context: RunContext, state: string): unknown[] {
  const { card, key, source, target, proof, before, updates, preflight, followUps, record } = context;
  const asks = state === 'oldBackup.asking' ? preflight.facts?.keysHeld.length : undefined;
  return [
    asks,
    card.onRecord?.card !== undefined,
    key.stored?.fingerprint,
    key.setting?.answer,
    card.guid,
    source.from?.fingerprint,
    target.overridden,
    target.facts?.blockers.length,
    target.facts?.identity.backups,
    preflight.facts?.newest?.backupId,
    proof.verification?.opens,
    before.counted !== undefined,
    followUps.bound?.way,
    followUps.bound?.platform,
    updates.setting !== undefined,
    stillOpen(followUps.list).map(({ id }) => id),
    updates.isStopping,
    record.isProven,
  ];
}
