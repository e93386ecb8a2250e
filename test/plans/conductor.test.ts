import { expect, onTestFinished, test, vi } from 'vitest';
import { type AnyMachineSnapshot, initialTransition, transition } from 'xstate';
import { PlanFile, type PlanInput } from '../../machines/parts/plan.ts';
import type { PlanEvent } from '../../machines/parts/plan-events.ts';
import type { Answer, Question } from '../../machines/parts/question.ts';
import { type PlanContext, planMachine } from '../../machines/plan.ts';
import { LifeboatError } from '../../src/base/errors.ts';
import { Conductor } from '../../src/plans/conductor.ts';
import type {
  ChildEnd,
  ChildSnapshot,
  ConductorPort,
  DrivenChild,
  RecordedChild,
} from '../../src/plans/conductor-port.ts';
import { resolvePlan } from '../../src/plans/resolve.ts';
import { surroundingsWith } from './surroundings.ts';

/** A recovery has replaced the data, and a later step of it has failed: it offers no end. */
const ENDLESS: Question = {
  kind: 'choice',
  prompt: 'the backup failed',
  options: [
    { event: { type: 'operator.retry' }, label: 'try again' },
    { event: { type: 'operator.stop' }, label: 'stop the run', disabled: 'the data was replaced' },
  ],
};

const snapshotOfChild: ChildSnapshot = {
  question: ENDLESS,
  asksAbout: 'failure',
  where: 'the backup failed',
  ...{ sinceMs: 0, paused: undefined, warning: undefined, targetNow: undefined },
  ...{ hasConfirmed: true, activity: undefined },
};

function inputOf(onFailure: object): PlanInput {
  const steps = [{ id: 'recover', runbook: 'disaster-recovery', ...onFailure }];
  const groups = [{ id: 'data', for: { name: 'db-1', target: '{name}-dr' }, steps }];
  const text = { plan: 'west', groups };
  const plan = PlanFile.parse(text);
  const resolved = resolvePlan(plan, surroundingsWith(1));
  expect(resolved.misfits).toEqual([]);
  return { plan, groups: resolved.groups, text: '', sha256: '', rehearsal: false, source: 'up' };
}

/** The run of a plan with one recovery, which asks `ENDLESS` from its begin on. */
function planWith(onFailure: object) {
  const input = inputOf(onFailure);
  const machine = planMachine(input.groups.map(({ id }) => id));
  let [snapshot] = initialTransition(machine, input) as unknown as [AnyMachineSnapshot];
  const over = Promise.withResolvers<void>();
  const listeners = new Set<() => void>();
  const did: string[] = [];
  let row: RecordedChild | undefined;
  const begin = async (start: Parameters<ConductorPort['begin']>[0]): Promise<DrivenChild> => {
    did.push('begun');
    row = { ...start, runId: 'CHILD', runbook: 'disaster-recovery', startedAt: '', isLeft: false };
    const ended = Promise.withResolvers<ChildEnd>();
    return {
      runId: 'CHILD',
      startedMs: 0,
      state: () => snapshotOfChild,
      subscribe: () => () => undefined,
      answer: async ({ event }: Answer) => void did.push(event),
      wake: () => undefined,
      detach: async (why) => {
        did.push(`left: ${why}`);
        ended.resolve({ result: undefined, endedMs: 1, cause: undefined });
      },
      ended: ended.promise,
    };
  };
  const tell = async (event: PlanEvent) => {
    [snapshot] = transition(machine, snapshot as never, event as never) as unknown as [AnyMachineSnapshot];
    for (const listener of listeners) listener();
    if (snapshot.status === 'done') over.resolve();
  };
  const conductor = new Conductor({
    plan: {
      snapshot: () => ({ ...snapshot, value: snapshot.value as never, hasQuestion: false }),
      tell,
      refuse: async () => undefined,
      subscribe: (listener) => {
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
      ended: over.promise,
      detach: async () => over.resolve(),
    },
    children: async () => (row === undefined ? [] : [row]),
    child: async () => row,
    recorded: async () => row,
    onRecord: async () => snapshotOfChild,
    begin,
    evaluate: async () => [{ group: 'data', lane: 'db-1', facts: [] } as never],
    differences: () => [],
    now: () => 0,
  });
  return { conductor, tell, did, over, state: () => snapshot };
}

const settled = (plan: ReturnType<typeof planWith>) => expect.poll(() => plan.conductor.children());

async function begunWith(onFailure: object) {
  const plan = planWith(onFailure);
  const running = plan.conductor.run();
  await expect.poll(() => plan.state().value).toBe('confirm');
  await plan.tell({ type: 'operator.confirm', typed: 'data' } as never);
  return { ...plan, running };
}

test('a run that a stopped group has left stays among its children, marked as left', async () => {
  const plan = await begunWith({});
  await settled(plan).toMatchObject([{ state: 'failing', isLeft: false }]);
  await plan.conductor.decide({ type: 'operator.stopGroup', group: 'data', text: 'enough' }, 'stop');
  await plan.running;
  expect(plan.did).toEqual(['begun', 'left: its group was stopped']);
  expect(plan.conductor.children()).toMatchObject([{ runId: 'CHILD', state: 'failing', isLeft: true }]);
});

test('a plan whose run was lost to another process begins nothing more in this one', async () => {
  const plan = planWith({});
  const running = plan.conductor.run();
  await expect.poll(() => plan.state().value).toBe('confirm');
  plan.over.reject(new LifeboatError('journal.lost-hold', 'another process has it'));
  await expect(running).rejects.toMatchObject({ code: 'journal.lost-hold' });
  await plan.tell({ type: 'operator.confirm', typed: 'data' } as never);
  // A look at the plan takes a few turns.
  for (let turns = 0; turns < 100; turns += 1) await new Promise(setImmediate);
  expect(plan.did).toEqual([]);
});

test('a plan that goes on after a failure leaves a run that offers no end, and ends without proof', async () => {
  const plan = await begunWith({ onFailure: 'continue', because: 'it may wait' });
  await plan.running;
  expect(plan.did).toEqual(['begun', 'left: the plan goes on without it, and it still asks a person']);
  expect(plan.state()).toMatchObject({
    status: 'done',
    value: 'unproven',
    context: { results: [{ group: 'data', done: 0, failed: 1, notRun: 0 }] },
  });
});

test('a run whose step was skipped is released for others to resume, and is taken up again for an answer here', async () => {
  const plan = await begunWith({});
  await settled(plan).toMatchObject([{ state: 'failing', isLeft: false }]);
  const where = { group: 'data', lane: 'db-1', step: 'recover' } as const;
  await plan.conductor.decide({ type: 'operator.skipStep', ...where, text: 'it may wait' }, 'skip');
  await settled(plan).toMatchObject([{ state: 'failing', isLeft: true }]);
  await plan.conductor.answer('CHILD', { event: 'operator.retry' });
  expect(plan.did.slice(1, 4)).toEqual([
    'left: its step was passed, and it still asks a person',
    'begun',
    'operator.retry',
  ]);
  await plan.conductor.leave('the test is over');
  await plan.running;
});

test('a run that offers no end is not retried in a new run: the refusal names the run to answer', async () => {
  const plan = await begunWith({});
  await settled(plan).toMatchObject([{ state: 'failing' }]);
  const where = { group: 'data', lane: 'db-1', step: 'recover' } as const;
  await expect(plan.conductor.decide({ type: 'operator.tryAgain', ...where }, 'again')).rejects.toMatchObject(
    {
      shortMessage: 'data/db-1/recover is not tried again: run CHILD has to be answered, it offers no end',
      hints: ['nothing was changed', 'to answer: lifeboat resume CHILD'],
    },
  );
  expect((plan.state().context as PlanContext).groups['data']?.attempts).toEqual({});
  await plan.conductor.leave('seen');
  await plan.running;
});

/** A plan's run in its groups, with the first wave begun. */
function planContextOf(input: PlanInput) {
  let [snapshot] = initialTransition(planMachine(['data']), input) as unknown as [AnyMachineSnapshot];
  for (const event of [
    { type: 'plan.evaluated', lanes: [] },
    { type: 'operator.confirm', typed: 'data' },
    { type: 'group.begun', group: 'data' },
    { type: 'wave.begun', group: 'data', wave: 1 },
  ])
    [snapshot] = transition(planMachine(['data']), snapshot as never, event as never) as unknown as [
      AnyMachineSnapshot,
    ];
  return { ...snapshot, hasQuestion: false };
}

/** Two instances, one at once; the process that had begun the second one has died, or none is begun. */
async function afterDeath(onRecord: ChildSnapshot | Error, isBegun = true) {
  const plan = PlanFile.parse({
    plan: 'west',
    groups: [
      {
        id: 'data',
        for: { name: 'db-*', target: '{name}-dr' },
        maxConcurrency: 1,
        steps: [{ id: 'recover', runbook: 'disaster-recovery', onFailure: 'continue', because: 'a test' }],
      },
    ],
  });
  const { groups } = resolvePlan(plan, surroundingsWith(2));
  const context = planContextOf({ plan, groups, text: '', sha256: '', rehearsal: false, source: 'up' });
  const at = (lane: string) => ({ group: 'data', step: 'recover', lane, attempt: 1 });
  const row = { ...at('db-2'), runId: 'TWO', runbook: 'disaster-recovery', startedAt: '', isLeft: false };
  const begun: string[] = [];
  let isHeld = true;
  const conductor = new Conductor({
    plan: {
      snapshot: () => context as never,
      tell: async () => undefined,
      refuse: async () => undefined,
      subscribe: () => () => undefined,
      ended: new Promise(() => undefined),
      detach: async () => undefined,
    },
    children: async () => (isBegun ? [row] : []),
    child: async () => (isBegun ? row : undefined),
    recorded: async ({ lane }) => (lane === 'db-2' && isBegun ? row : undefined),
    onRecord: async () => {
      if (onRecord instanceof Error) throw onRecord;
      return onRecord;
    },
    begin: async ({ lane }) => {
      begun.push(lane);
      if ((lane === 'db-2' || !isBegun) && isHeld)
        throw new LifeboatError('journal.held', 'run/TWO is held by alice');
      return {
        runId: lane,
        startedMs: 0,
        state: () => ({ ...snapshotOfChild, question: undefined, asksAbout: undefined }),
        subscribe: () => () => undefined,
        answer: async () => undefined,
        wake: () => undefined,
        detach: async () => undefined,
        ended: new Promise<ChildEnd>(() => undefined),
      };
    },
    evaluate: async () => [],
    differences: () => [],
    now: () => Date.now(),
  });
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  void conductor.run();
  await vi.advanceTimersByTimeAsync(100);
  return {
    begun,
    children: () => conductor.children(),
    waiting: () => conductor.waiting(),
    tryAgain: (lane: string) => conductor.decide({ type: 'operator.tryAgain', ...at(lane) }, 'again'),
    letGo: () => {
      isHeld = false;
    },
  };
}

test('a child at work in another process keeps its slot until it can be taken up here', async () => {
  const { begun, children, waiting, letGo } = await afterDeath({ ...snapshotOfChild, question: undefined });
  expect(begun).toEqual(['db-2']);
  expect(children()).toMatchObject([{ state: 'at-work', where: 'run/TWO is held by alice' }]);
  expect(waiting()).toBeUndefined();
  letGo();
  await vi.advanceTimersByTimeAsync(5_000);
  expect(begun).toEqual(['db-2', 'db-2']);
  expect(children()).toMatchObject([{ runId: 'db-2', state: 'at-work', where: 'the backup failed' }]);
});

test('a step whose instance is held by a run that is just closing waits for no person', async () => {
  const { waiting, letGo, children } = await afterDeath({ ...snapshotOfChild, question: undefined }, false);
  expect(waiting()).toMatchObject({ isBlocked: true });
  letGo();
  await vi.advanceTimersByTimeAsync(5_000);
  expect(children()).toMatchObject([{ runId: 'db-1', state: 'at-work' }]);
});

test('a step that another process works on is not retried', async () => {
  const { tryAgain } = await afterDeath({ ...snapshotOfChild, question: undefined });
  await expect(tryAgain('db-2')).rejects.toMatchObject({
    code: 'plan.not-failed',
    shortMessage: expect.stringContaining('it is under way'),
  });
});

test('a child that waits for a person in another process occupies no slot', async () => {
  const { begun } = await afterDeath(snapshotOfChild);
  expect(begun).toEqual(['db-2', 'db-1']);
});

test('a child whose record cannot be read keeps its slot, and breaks nothing', async () => {
  const { begun, children } = await afterDeath(new Error('the database is closed'));
  expect(begun).toEqual(['db-2']);
  expect(children()).toMatchObject([{ state: 'at-work' }]);
});
