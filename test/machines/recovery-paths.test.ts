import { describe, expect, test } from 'vitest';
import type { AnyMachineSnapshot } from 'xstate';
import { transition } from 'xstate';
import { runbooks } from '../../machines/index.ts';
import { stillOwed } from '../../machines/parts/obligation.ts';
import type { Runbook } from '../../machines/parts/runbook.ts';
import { statePath } from '../../machines/parts/states.ts';
import { RecoveryContext } from '../../machines/recovery/context.ts';
import { hasActed, isReachable, isRestored } from '../../machines/recovery/weigh.ts';
import { answersAt, type Exploration, explore, keysOf, questionAt } from './explore.ts';
import { outcomesOf } from './recovery-outcomes.ts';

const CASES: readonly { readonly id: string; readonly inputs: readonly object[] }[] = [
  { id: 'restore-backup', inputs: [{}, { backup: 3 }] },
  { id: 'restore-point-in-time', inputs: [{}] },
  {
    id: 'disaster-recovery',
    inputs: [
      { target: 'orders-dr', mode: 'prepare' },
      { target: 'orders-dr', mode: 'perform' },
    ],
  },
  { id: 'back-up-and-verify', inputs: [{}] },
  {
    id: 'change-instance',
    inputs: [{ action: 'restart' }, { action: 'recreate' }, { action: 'update' }],
  },
];

/** Where it matters which obligation is worked on. */
const PAYING = ['unbinding', 'binding', 'restaging', 'renewingKey', 'proving'];

const WALKS = CASES.map(({ id, inputs }) => {
  const runbook = runbooks[id] as Runbook;
  const starts = inputs.map((input) => runbook.input.parse({ instance: 'orders', ...input }));
  return {
    id,
    runbook,
    situations: starts.flatMap((input) => explore(exploration(runbook, input as object))),
  };
});

describe.each(WALKS)('every path through $id', ({ id, runbook, situations }) => {
  test('no state is unreachable', () => {
    const reached = new Set(situations.map(({ snapshot }) => statePath(snapshot)));
    const all = Object.entries(runbook.machine.config.states ?? {})
      .filter(([, state]) => !('always' in state))
      .map(([name]) => name);
    expect(all.filter((name) => !reached.has(name))).toEqual([]);
  });

  test('no path reaches a destructive state without a confirmation after the last change of its facts', () => {
    const destructive = situations.filter(({ snapshot }) => snapshot.hasTag('destructive' as never));
    expect(destructive.length > 0).toBe(id !== 'back-up-and-verify');
    expect(destructive.filter(({ confirmed }) => !confirmed).map(({ path }) => path.join(' > '))).toEqual([]);
  });

  test('every question has an open answer, no two of the same name, and every open answer moves the machine', () => {
    for (const { snapshot } of situations) {
      const question = questionAt(runbook, snapshot);
      if (question === undefined) continue;
      const answers = answersAt(runbook, snapshot);
      expect(answers.length, statePath(snapshot)).toBeGreaterThan(0);
      expect(new Set(keysOf(question)).size).toBe(question.options.length);
      for (const event of answers)
        expect(snapshot.can(event as never), `${statePath(snapshot)} ${event.type}`).toBe(true);
    }
  });

  test('no recommended answer destroys, and none is recommended beside a failure', () => {
    for (const { snapshot } of situations) {
      const recommended = (questionAt(runbook, snapshot)?.options ?? []).filter((one) => one.recommended);
      expect(recommended.length, statePath(snapshot)).toBeLessThanOrEqual(1);
      if (snapshot.hasTag('failed' as never)) expect(recommended).toEqual([]);
      for (const { event } of recommended) {
        const [next] = transition(runbook.machine, snapshot as never, event as never);
        expect(next.hasTag('destructive' as never)).toBe(false);
      }
    }
  });

  test('every failure state shows retry, skip, mark as done and stop, each open or with the reason why not', () => {
    const ways = ['operator.retry', 'operator.skip', 'operator.markDone', 'operator.stop'];
    const failed = situations.filter(
      ({ snapshot }) => snapshot.hasTag('failed' as never) && statePath(snapshot) !== 'keyNotInForce',
    );
    for (const { snapshot } of failed) {
      const options = questionAt(runbook, snapshot)?.options ?? [];
      expect(
        options.map(({ event }) => event.type),
        statePath(snapshot),
      ).toEqual(ways);
    }
  });

  test('every snapshot survives a round trip through JSON and fits its schema', () => {
    for (const { snapshot } of situations) {
      const plain: unknown = JSON.parse(JSON.stringify(snapshot.context));
      expect(RecoveryContext.parse(plain)).toEqual(plain);
    }
  });

  test('a run ends with nothing owed, and is proven only by what the service said in it', () => {
    for (const { snapshot } of situations) {
      const context = snapshot.context as RecoveryContext;
      const closing = runbook.closing(context as never, statePath(snapshot));
      expect(runbook.facts(context as never)).toBeInstanceOf(Array);
      if (snapshot.status !== 'done') continue;
      expect(stillOwed(context.obligations)).toEqual([]);
      if (!closing.proven) continue;
      if (context.restore.intents > 0 && id.startsWith('restore'))
        expect([context.restore.restore?.status, context.ready?.state]).toEqual(['done', 'available']);
      if (id === 'back-up-and-verify') expect(context.verification).toBeDefined();
      if (id === 'change-instance')
        expect([context.act.outside, context.ready?.state]).toEqual([undefined, 'available']);
    }
  });

  test('where something is owed after a restore, the run cannot be stopped', () => {
    for (const { snapshot } of situations) {
      const { obligations } = snapshot.context as RecoveryContext;
      const owed = stillOwed(obligations).filter(({ kind }) => kind !== 'release-updates');
      if (snapshot.status === 'done' || owed.length === 0) continue;
      const types = answersAt(runbook, snapshot).map(({ type }) => type);
      expect(types, statePath(snapshot)).not.toContain('operator.stop');
    }
  });

  test('its steps and its main path exist', () => {
    const steps = new Set(runbook.steps.map((step) => step.id));
    const states = Object.keys(runbook.machine.states);
    for (const [name, state] of Object.entries(runbook.machine.states))
      expect(steps, name).toContain((state.meta as { step: string }).step);
    expect(runbook.mainPath.filter((state) => !states.includes(state))).toEqual([]);
  });
});

function exploration(runbook: Runbook, input: object): Exploration {
  return { runbook, input, outcomesOf, identity, ground, isUsed };
}

function ground(snapshot: AnyMachineSnapshot): unknown {
  const { facts, chosen, time, from, targetFacts, key, restore, act } = snapshot.context as RecoveryContext;
  const intents = [restore.intents, act.intents];
  return [facts?.ground, chosen?.id, time, from, targetFacts?.identity, key?.fingerprint, intents];
}

function isUsed({ context }: AnyMachineSnapshot): boolean {
  const { restore, act } = context as RecoveryContext;
  return [restore, act].some(({ landed, outside }) => landed !== undefined || outside !== undefined);
}

/** What later guards look at. Once what was confirmed is under way, what led to it is looked at no more. */
function identity(snapshot: AnyMachineSnapshot): unknown {
  const context = snapshot.context as RecoveryContext;
  const { duties, obligations, restore, fresh } = context;
  if (!isUsed(snapshot)) {
    const { drift, safety, proof, time, chosen } = context;
    const isTasked = /safety|proof|backup/i.test(statePath(snapshot));
    const tasks = isTasked
      ? [safety, proof].map(({ landed, absences }) => [landed !== undefined, absences])
      : [proof.landed !== undefined];
    const isReached = isReachable(context, time);
    const isUnsaid = context.facts?.unsaid !== undefined;
    return [
      isUnsaid,
      drift.length > 0,
      tasks,
      isReached,
      time,
      chosen?.id,
      restore.absences > 0,
      ...peace(context),
    ];
  }
  const isTaking = statePath(snapshot).includes('resh');
  return [
    context.facts?.unsaid !== undefined,
    isTaking ? [fresh.landed !== undefined, fresh.absences] : [],
    [isRestored(context), hasActed(context)],
    stillOwed(obligations)
      .map(({ id }) => id)
      .sort(),
    obligations.length > 0,
    PAYING.includes(statePath(snapshot)) ? [context.paying, context.payingAll] : [],
    duties?.way,
    context.onRecord?.card !== undefined && obligations.length === 0,
    context.updates !== undefined,
    context.stopping,
  ];
}

/** What the halves of a disaster recovery before the call look at. */
function peace(context: RecoveryContext): unknown[] {
  const { onRecord, key, setting, guid, from, overridden, targetFacts, verification, before, updates } =
    context;
  return [
    onRecord?.card !== undefined,
    key?.fingerprint,
    setting?.answer,
    guid,
    from?.fingerprint,
    overridden,
    targetFacts?.blockers.length,
    targetFacts?.identity.backups,
    context.facts?.newest?.backupId,
    verification?.opens,
    before !== undefined,
    context.duties?.way,
    updates !== undefined,
    stillOwed(context.obligations).map(({ id }) => id),
    context.stopping,
  ];
}
