import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type AnyMachineSnapshot, initialTransition, transition } from 'xstate';
import { PlanFile, type PlanInput, type ResolvedGroup } from '../../machines/parts/plan.ts';
import { NEW_GROUP, type PlanEvent } from '../../machines/parts/plan-events.ts';
import { planMachine } from '../../machines/plan.ts';
import { listedFacts, planFacts } from '../../src/plans/facts.ts';
import { closingGroups, resolvePlan } from '../../src/plans/resolve.ts';
import {
  type Child,
  freeSlots,
  type GroupRecord,
  keyOf,
  lanesOf,
  type PlanFacts,
  type Start,
  schedule,
  takesSlot,
} from '../../src/plans/schedule.ts';
import { surroundingsWith } from './surroundings.ts';

/** The run of a plan whose children are facts of the test. */
class World {
  readonly children = new Map<string, Child>();
  readonly log: string[] = [];
  nowMs = 1_000;
  snapshot: AnyMachineSnapshot;
  readonly #machine;

  constructor(input: PlanInput) {
    this.#machine = planMachine(input.groups.map(({ id }) => id));
    [this.snapshot] = initialTransition(this.#machine, input);
    this.tell({ type: 'plan.evaluated', lanes: [] });
  }

  tell(event: PlanEvent): void {
    [this.snapshot] = transition(this.#machine, this.snapshot as never, event);
    this.log.push(JSON.stringify(event));
  }

  facts(): PlanFacts | undefined {
    return planFacts(this.snapshot, [...this.children.values()], this.nowMs);
  }

  /** Does everything that follows by itself, up to children that have to end. */
  settle(): void {
    for (;;) {
      const facts = this.facts();
      if (facts === undefined) return;
      const { events, starts } = schedule(facts);
      for (const event of events) this.tell(event);
      for (const start of starts) this.begin(start);
      this.check();
      if (events.length === 0 && starts.length === 0) break;
    }
    this.checkNoneWaits();
  }

  /** A lane that is ready has started where a slot is free and nothing holds its group back. */
  checkNoneWaits(): void {
    const facts = this.facts();
    for (const group of facts?.groups ?? []) {
      const lanes = lanesOf(group, facts as PlanFacts);
      const isHeldBack =
        facts?.records[group.id]?.state !== 'running' ||
        group.order === 'by-step' ||
        lanes.some(({ state, hasFailed }) => hasFailed || state.is === 'failing');
      const isReady = lanes.some(({ state }) => state.is === 'ready');
      if (isReady && !isHeldBack) expect(freeSlots(group, facts as PlanFacts), this.log.join('\n')).toBe(0);
    }
  }

  begin(start: Start): void {
    const key = keyOf(start);
    if (this.children.has(key)) throw new Error(`${key} is started twice`);
    for (let attempt = 1; attempt < start.attempt; attempt += 1) {
      const before = this.children.get(keyOf({ ...start, attempt }))?.state;
      if (before !== undefined && before !== 'done' && before !== 'failed')
        throw new Error(`${key} is started while an earlier attempt is open`);
    }
    const record = this.facts()?.records[start.group];
    if (record?.state !== 'running') throw new Error(`${key} is started while its group is ${record?.state}`);
    this.log.push(`start ${key}`);
    this.children.set(key, { ...start, state: 'at-work' });
  }

  end(child: Child, state: Child['state']): void {
    this.nowMs += 1_000;
    this.log.push(`${keyOf(child)} is ${state}`);
    const isOver = state === 'done' || state === 'failed';
    this.children.set(keyOf(child), { ...child, state, endedMs: isOver ? this.nowMs : undefined });
  }

  open(): Child[] {
    return [...this.children.values()].filter(({ state }) => state !== 'done' && state !== 'failed');
  }

  /** What must hold at every entry. */
  check(): void {
    const facts = this.facts();
    for (const group of facts?.groups ?? []) {
      const atWork = lanesOf(group, facts as PlanFacts).filter(({ state }) => takesSlot(state)).length;
      expect(atWork, this.log.join('\n')).toBeLessThanOrEqual(group.maxConcurrency);
    }
  }

  /** How many of a group's lanes have failed or are failing, in the attempt that counts. */
  failures(group: string): number {
    const attempts = this.facts()?.records[group]?.attempts ?? {};
    const lanes = [...this.children.values()].filter(
      (child) =>
        child.group === group &&
        child.attempt === (attempts[`${child.lane}/${child.step}`] ?? 1) &&
        (child.state === 'failed' || child.state === 'failing'),
    );
    return new Set(lanes.map(({ lane }) => lane)).size;
  }
}

function inputOf(groups: readonly object[], more: object = {}): PlanInput {
  const text = { plan: 'test', groups, ...more };
  const plan = PlanFile.parse(text);
  const { groups: resolved, misfits } = resolvePlan(plan, surroundingsWith(12));
  expect(misfits).toEqual([]);
  return { plan, groups: resolved, text: '', sha256: '', rehearsal: false, source: 'up' };
}

const CHECK = { check: { tcp: '127.0.0.1:1' } };
const step = (id: string, more: object = {}) => ({ id, ...CHECK, ...more });
const group = (id: string, more: object = {}) => ({
  id,
  for: { name: 'db-*' },
  steps: [step('one')],
  ...more,
});

describe('a group', () => {
  test('begins at most maxConcurrency children, and the next one when a slot is free', () => {
    const world = new World(inputOf([group('a', { maxConcurrency: 3 })]));
    world.settle();
    expect(world.open()).toHaveLength(3);
    world.end(world.open()[0] as Child, 'done');
    world.settle();
    expect(world.open()).toHaveLength(3);
    expect(world.children.size).toBe(4);
  });

  test('begins in waves: the last size repeats, and a share is rounded up', () => {
    const { groups } = inputOf([group('a', { waves: [1, '30%'] })]);
    expect(groups[0]?.sizes).toEqual([1, 4, 4, 3]);
  });

  test('begins a wave only when the one before has ended and settled', () => {
    const world = new World(inputOf([group('a', { waves: [1, 5], settle: '1m' })]));
    world.settle();
    expect(world.open()).toHaveLength(1);
    world.end(world.open()[0] as Child, 'done');
    world.settle();
    expect(world.open()).toHaveLength(0);
    expect(schedule(world.facts() as PlanFacts).wakeMs).toBe(world.nowMs + 60_000);
    world.nowMs += 60_000;
    world.settle();
    expect(world.open()).toHaveLength(5);
  });

  test('lets a person promote a wave where the plan says so', () => {
    const world = new World(inputOf([group('a', { waves: [1, 5], promote: 'approve' })]));
    world.settle();
    world.end(world.open()[0] as Child, 'done');
    world.settle();
    expect(world.facts()?.records['a']).toMatchObject({ state: 'held', held: { why: 'promotion' } });
    world.tell({ type: 'operator.resumeGroup', group: 'a' });
    world.settle();
    expect(world.open()).toHaveLength(5);
  });

  test('stops inclusively: with the second failure of two, nothing new starts', () => {
    const world = new World(
      inputOf([
        group('a', {
          maxConcurrency: 4,
          stopWhen: { failed: 2 },
          steps: [step('one', { onFailure: 'continue', because: 'it may wait' })],
        }),
      ]),
    );
    world.settle();
    world.end(world.open()[0] as Child, 'failed');
    world.settle();
    expect(world.open()).toHaveLength(4);
    world.end(world.open()[0] as Child, 'failed');
    world.settle();
    expect(world.open()).toHaveLength(3);
    expect(world.facts()?.records['a']).toMatchObject({ state: 'held', held: { why: 'stop-rule' } });
  });

  test('rounds a failed share up to the count that stops it', () => {
    expect(inputOf([group('a', { stopWhen: { failedShare: '10%' } })]).groups[0]?.stopAt).toBe(2);
  });

  test('pauses at a failed lane, and continues without it when a person allows it', () => {
    const world = new World(inputOf([group('a', { maxConcurrency: 1 })]));
    world.settle();
    world.end(world.open()[0] as Child, 'failed');
    world.settle();
    expect(world.open()).toHaveLength(0);
    world.tell({ type: 'operator.resumeGroup', group: 'a' });
    world.settle();
    expect(world.open()).toHaveLength(1);
  });

  test('holds back while a person is asked about a failure, and continues by itself when the run succeeded', () => {
    const world = new World(inputOf([group('a', { maxConcurrency: 2 })]));
    world.settle();
    const [first, second] = world.open();
    world.end(first as Child, 'failing');
    world.end(second as Child, 'done');
    world.settle();
    expect(world.open()).toHaveLength(1);
    world.end(world.open()[0] as Child, 'done');
    world.settle();
    expect(world.open()).toHaveLength(2);
  });

  test('retries a failed step in another attempt, and does not count the failure any more', () => {
    const world = new World(inputOf([group('a', { maxConcurrency: 1 })]));
    world.settle();
    const [first] = world.open();
    world.end(first as Child, 'failed');
    world.settle();
    world.tell({ type: 'operator.tryAgain', group: 'a', lane: first?.lane ?? '', step: 'one' });
    world.tell({ type: 'operator.resumeGroup', group: 'a' });
    world.settle();
    expect(world.open()).toMatchObject([{ lane: first?.lane, attempt: 2 }]);
  });

  test('begins another attempt of a step only when the one before has ended', () => {
    const world = new World(inputOf([group('a', { maxConcurrency: 1 })]));
    world.settle();
    const [first] = world.open();
    world.end(first as Child, 'waiting');
    world.tell({ type: 'operator.tryAgain', group: 'a', lane: first?.lane ?? '', step: 'one' });
    world.settle();
    const again = () => world.open().filter(({ lane }) => lane === first?.lane);
    expect(again()).toMatchObject([{ attempt: 1 }]);
    for (const child of world.open()) world.end(child, child.lane === first?.lane ? 'failed' : 'done');
    world.settle();
    expect(again()).toMatchObject([{ attempt: 2 }]);
  });

  test('begins no other attempt of a step whose run succeeded after the retry was requested', () => {
    const world = new World(inputOf([group('a', { maxConcurrency: 1, steps: [step('one'), step('two')] })]));
    world.settle();
    const [first] = world.open();
    world.end(first as Child, 'failing');
    world.tell({ type: 'operator.tryAgain', group: 'a', lane: first?.lane ?? '', step: 'one' });
    world.end(first as Child, 'done');
    world.settle();
    expect(world.open()).toMatchObject([{ lane: first?.lane, step: 'two', attempt: 1 }]);
  });

  test('continues beside a failure that it passes and whose run was left open, and counts it', () => {
    const steps = [step('one', { onFailure: 'continue', because: 'it may wait' }), step('two')];
    const world = new World(inputOf([group('a', { steps, waves: [1, '100%'] })]));
    world.settle();
    const [first] = world.open();
    world.end(first as Child, 'failing');
    world.settle();
    expect(world.open()).toHaveLength(1);
    const left = { ...(first as Child), state: 'failing' as const, isLeft: true };
    world.children.set(keyOf(left), left);
    world.settle();
    expect(world.open()).toMatchObject([{ step: 'one' }, { lane: first?.lane, step: 'two' }]);
    world.end(world.open()[1] as Child, 'done');
    const [lane] = lanesOf(
      (world.facts() as PlanFacts).groups[0] as ResolvedGroup,
      world.facts() as PlanFacts,
    );
    expect(lane).toMatchObject({ state: { is: 'failed', step: { id: 'one' } }, hasFailed: true });
  });

  test('shows an instance as failed, not as done, after a failure that it passes, and holds nothing up', () => {
    const steps = [step('one', { onFailure: 'continue', because: 'it may wait' }), step('two')];
    const world = new World(inputOf([group('a', { steps, waves: [1, '100%'], settle: '1m' })]));
    const first = () =>
      lanesOf((world.facts() as PlanFacts).groups[0] as ResolvedGroup, world.facts() as PlanFacts)[0]?.state;
    world.settle();
    world.end(world.open()[0] as Child, 'failed');
    world.settle();
    expect(first()).toMatchObject({ is: 'at-work', step: { id: 'two' } });
    world.end(world.open()[0] as Child, 'done');
    world.settle();
    expect(first()).toMatchObject({ is: 'failed', step: { id: 'one' }, endedMs: world.nowMs });
    expect(schedule(world.facts() as PlanFacts).wakeMs).toBe(world.nowMs + 60_000);
    world.nowMs += 60_000;
    world.settle();
    expect(world.open()).toHaveLength(10);
    world.tell({ type: 'operator.tryAgain', group: 'a', lane: 'db-1', step: 'one' });
    expect(first()).toMatchObject({ is: 'ready', step: { id: 'one' }, attempt: 2 });
  });

  test('keeps an instance waiting whose step was passed while its run is left open', () => {
    const world = new World(inputOf([group('a', { steps: [step('one'), step('two')], waves: [1, '100%'] })]));
    world.settle();
    const [first] = world.open();
    const left = { ...(first as Child), state: 'failing' as const, isLeft: true };
    world.children.set(keyOf(left), left);
    world.tell({ type: 'operator.skipStep', group: 'a', lane: first?.lane ?? '', step: 'one', text: 'no' });
    world.settle();
    expect(world.open()).toEqual([left]);
    world.end(left, 'failed');
    world.settle();
    expect(world.open()).toMatchObject([{ lane: first?.lane, step: 'two' }]);
  });

  test('that is stopped ends although a run of it was left open', () => {
    const world = new World(inputOf([group('a', { waves: [1, '100%'] })]));
    world.settle();
    const [first] = world.open();
    world.children.set(keyOf(first as Child), { ...(first as Child), isLeft: true });
    world.tell({ type: 'operator.stopGroup', group: 'a', text: 'enough' });
    world.settle();
    expect(world.snapshot.context.groups).toMatchObject({ a: { ended: 'stopped' } });
  });

  test('that was stopped, or not run, leaves no instance that looks as if it came next', () => {
    const steps = [step('one'), step('two')];
    const begun = group('a', { steps, waves: [2, 10] });
    const world = new World(inputOf([begun, group('b', { after: ['a'], waves: [1] })]));
    world.settle();
    world.tell({ type: 'operator.stopGroup', group: 'a', text: 'enough' });
    const [first, second] = world.open();
    world.end(first as Child, 'done');
    world.end(second as Child, 'failed');
    world.settle();
    const { groups } = listedFacts(world.snapshot, [], 0);
    const facts = listedFacts(world.snapshot, [...world.children.values()], world.nowMs);
    const [a, b] = groups.map((one) => lanesOf(one, facts).map(({ state }) => state));
    expect(a?.slice(0, 3)).toMatchObject([
      { is: 'stopped', step: { id: 'two' } },
      { is: 'failed', step: { id: 'one' } },
      { is: 'not-run' },
    ]);
    expect(b?.every(({ is }) => is === 'not-run')).toBe(true);
  });

  test('does not start a group whose predecessor was stopped', () => {
    const world = new World(inputOf([group('a'), group('b', { after: ['a'] })]));
    world.settle();
    world.tell({ type: 'operator.stopGroup', group: 'a', text: 'enough' });
    for (const child of world.open()) world.end(child, 'done');
    world.settle();
    expect([...world.children.values()].every((child) => child.group === 'a')).toBe(true);
    expect(world.snapshot.context.groups).toMatchObject({ a: { ended: 'stopped' }, b: { ended: 'not-run' } });
  });

  test('completes one step on all instances before the next, in the mode by step', () => {
    const world = new World(
      inputOf([group('a', { order: 'by-step', maxConcurrency: 12, steps: [step('one'), step('two')] })]),
    );
    world.settle();
    for (const child of world.open().slice(1)) world.end(child, 'done');
    world.settle();
    expect(world.open()).toHaveLength(1);
    world.end(world.open()[0] as Child, 'done');
    world.settle();
    expect(world.open()).toHaveLength(12);
  });

  test('gives no slot to those that wait for people', () => {
    const world = new World(
      inputOf([
        group('a', { maxConcurrency: 2, steps: [{ id: 'one', manual: { do: 'look' } }, step('two')] }),
      ]),
    );
    world.settle();
    expect(world.open()).toHaveLength(12);
  });

  test('leaves out a step that belongs to a recovery without the source, until the source is down', () => {
    const world = new World(
      inputOf([group('a', { steps: [step('one'), step('two', { when: 'source-down' })] })]),
    );
    world.settle();
    world.tell({ type: 'operator.setSource', source: 'down' });
    for (const child of world.open()) world.end(child, 'done');
    world.settle();
    expect(world.open().every((child) => child.step === 'two')).toBe(true);
  });

  test('begins nothing on a lane that was taken out, and continues it when it is taken up again', () => {
    const world = new World(inputOf([group('a', { maxConcurrency: 12, steps: [step('one'), step('two')] })]));
    world.settle();
    world.tell({ type: 'operator.takeOut', group: 'a', lane: 'db-1', text: 'its owner asked' });
    for (const child of world.open()) world.end(child, 'done');
    world.settle();
    expect(world.open().some(({ lane }) => lane === 'db-1')).toBe(false);
    expect(world.open()).toHaveLength(11);
    world.tell({ type: 'operator.takeUp', group: 'a', lane: 'db-1' });
    world.settle();
    expect(world.open()).toHaveLength(12);
  });
});

test('a lane that is taken out before its wave begins is out, and is marked as later again when it is taken up', () => {
  const world = new World(inputOf([group('a', { waves: [1, 11] })]));
  world.settle();
  const last = () => {
    const [only] = world.facts()?.groups ?? [];
    return lanesOf(only as ResolvedGroup, world.facts() as PlanFacts).at(-1)?.state.is;
  };
  expect(last()).toBe('later');
  world.tell({ type: 'operator.takeOut', group: 'a', lane: 'db-12', text: 'its owner asked' });
  expect(last()).toBe('out');
  world.tell({ type: 'operator.takeUp', group: 'a', lane: 'db-12' });
  expect(last()).toBe('later');
});

describe('a group with a time limit', () => {
  const limited = (state: GroupRecord['state'], child: Partial<Child>, nowMs: number) => {
    const [only] = inputOf([group('a', { maxConcurrency: 1, for: { instances: ['db-1', 'db-2'] } })]).groups;
    const facts: PlanFacts = {
      groups: [{ ...(only as ResolvedGroup), timeout: 60_000 }],
      records: { a: { ...NEW_GROUP, waves: 1, state } },
      children: [
        {
          ...{ group: 'a', step: 'one', lane: 'db-1', attempt: 1, state: 'at-work', startedMs: 1_000 },
          ...child,
        } as Child,
      ],
      source: 'up',
      rehearsal: false,
      nowMs,
    };
    return schedule(facts);
  };

  test.each(['running', 'held'] as const)('stops when it is over, even while it is %s', (state) => {
    expect(limited(state, {}, 60_999)).toMatchObject({ events: [], wakeMs: undefined, limitMs: 61_000 });
    expect(limited(state, {}, 61_000).events).toEqual([{ type: 'group.stopping', group: 'a', lanes: [] }]);
  });

  test.each([
    ['before', 60_999],
    ['after', 61_000],
  ])('that was stopped waits for work in progress, late or not, and for no person, %s its end', (_, at) => {
    expect(limited('stopping', {}, at)).toMatchObject({ events: [], starts: [] });
    expect(limited('stopping', { state: 'failing', isLate: true }, at).events).toEqual([]);
    for (const state of ['waiting', 'failing'] as const)
      expect(limited('stopping', { state }, at).events).toMatchObject([{ how: 'stopped' }]);
  });
});

describe('the last steps of a plan', () => {
  const last = (children: readonly Partial<Child>[], nowMs = 61_000) => {
    const steps = [
      { id: 'by-hand', manual: { do: 'look' } },
      { id: 'clean', command: { argv: ['rm', 'x'], kind: 'repeatable' } },
      { id: 'tell', notify: { text: 'it has ended' } },
      { id: 'tell-more', notify: { text: 'it has ended' } },
    ];
    const { plan } = inputOf([group('a')], { finally: { timeout: '1m', steps } });
    const all = children.map(
      (child) => ({ group: 'finally', lane: '-', attempt: 1, startedMs: 1_000, ...child }) as Child,
    );
    return schedule({
      groups: [closingGroups(plan).finally],
      records: { finally: { ...NEW_GROUP, waves: 1, state: 'stopping' } },
      children: all,
      source: 'up',
      rehearsal: false,
      nowMs,
    });
  };
  const tell = { group: 'finally', step: 'tell', lane: '-', attempt: 1 };

  test('still notify people when their time is over or they are stopped, one after the other, and nothing else', () => {
    expect(last([{ step: 'by-hand', state: 'waiting' }])).toMatchObject({ events: [], starts: [tell] });
    expect(last([])).toMatchObject({ events: [], starts: [tell] });
    expect(last([{ step: 'by-hand', state: 'at-work' }])).toMatchObject({ events: [], starts: [] });
    expect(last([{ step: 'tell', state: 'at-work' }])).toMatchObject({ events: [], starts: [] });
    expect(last([{ step: 'tell', state: 'done' }]).starts).toEqual([{ ...tell, step: 'tell-more' }]);
  });

  test('end when each notification has ended, sent or not', () => {
    const ended = last([
      { step: 'tell', state: 'failed' },
      { step: 'tell-more', state: 'done' },
    ]);
    expect(ended).toMatchObject({ starts: [], events: [{ type: 'group.ended', how: 'stopped' }] });
  });
});

/** What happens next, drawn at random. */
const draws = fc.array(fc.tuple(fc.nat(), fc.nat(), fc.nat()), { minLength: 20, maxLength: 150 });

const someGroups = fc
  .array(
    fc.record({
      maxConcurrency: fc.integer({ min: 1, max: 5 }),
      waves: fc.array(fc.oneof(fc.integer({ min: 1, max: 5 }), fc.constantFrom('1%', '30%', '100%')), {
        minLength: 1,
        maxLength: 3,
      }),
      order: fc.constantFrom('by-instance', 'by-step'),
      stopWhen: fc.option(fc.record({ failed: fc.integer({ min: 1, max: 4 }) }), { nil: undefined }),
      failures: fc.array(fc.constantFrom('pause', 'continue', 'stop'), { minLength: 1, maxLength: 3 }),
      isAfter: fc.boolean(),
    }),
    { minLength: 1, maxLength: 3 },
  )
  .map((all) =>
    all.map(({ failures, isAfter, stopWhen, ...given }, at) =>
      group(`g${at}`, {
        ...given,
        ...(stopWhen === undefined ? {} : { stopWhen }),
        after: isAfter && at > 0 ? [`g${at - 1}`] : [],
        steps: failures.map((onFailure, index) =>
          step(`s${index}`, { onFailure, ...(onFailure === 'continue' ? { because: 'it may wait' } : {}) }),
        ),
      }),
    ),
  );

/** Lets one thing happen: a child ends somehow, or a person decides about a group. */
function happen(world: World, [what, which, how]: readonly [number, number, number]): void {
  const open = world.open();
  const child = open[which % Math.max(1, open.length)];
  const records = Object.entries(world.facts()?.records ?? {});
  const [id = '', record] = records[which % Math.max(1, records.length)] ?? [];
  if (what % 10 === 9 && record !== undefined) {
    if (record.state === 'held') world.tell({ type: 'operator.resumeGroup', group: id });
    else if (how % 4 === 0) world.tell({ type: 'operator.pauseGroup', group: id, text: 'wait' });
    return;
  }
  if (child === undefined) return;
  if (what % 10 === 8) {
    const { group: id, lane, step: name } = child;
    world.tell({ type: 'operator.tryAgain', group: id, lane, step: name });
    return;
  }
  const facts = world.facts();
  const ofChild = facts?.groups.find((one) => one.id === child.group);
  if (child.state !== 'at-work' && facts !== undefined && ofChild !== undefined) {
    // A person answers, and it goes on where a slot is free.
    if (freeSlots(ofChild, facts) > 0) world.end(child, 'at-work');
    world.check();
    return;
  }
  const states = ['done', 'done', 'done', 'failed', 'failing', 'waiting'] as const;
  world.end(child, states[how % states.length] ?? 'done');
}

test('of 10,000 waits that end at the same moment, only as many continue at once as the group allows', () => {
  const groups = [group('a', { maxConcurrency: 7, steps: [{ id: 'rest', wait: '1m' }, step('one')] })];
  const input = inputOf(groups);
  const lanes = Array.from({ length: 10_000 }, (_, at) => ({ name: `db-${at}` }));
  const [only] = input.groups;
  const world = new World({
    ...input,
    groups: [{ ...(only as ResolvedGroup), lanes, sizes: [lanes.length] }],
  });
  world.settle();
  expect(world.open()).toHaveLength(10_000);
  for (const child of world.open()) world.end(child, 'done');
  world.settle();
  expect(world.open()).toHaveLength(7);
});

describe('in any order of events', () => {
  test('no limit is exceeded, nothing starts twice, and nothing starts in a group that does not run', () => {
    fc.assert(
      fc.property(someGroups, draws, (groups, happenings) => {
        const world = new World(inputOf(groups));
        world.settle();
        for (const one of happenings) {
          happen(world, one);
          const before = world.children.size;
          const rules = (world.facts()?.groups ?? []).filter(
            ({ id, stopAt }) =>
              stopAt !== undefined &&
              (world.facts()?.records[id]?.accepted.length ?? 0) === 0 &&
              world.failures(id) >= stopAt,
          );
          const ofGroup = (id: string) =>
            [...world.children.values()].filter((child) => child.group === id).length;
          const counts = rules.map(({ id }) => ofGroup(id));
          world.settle();
          // The rule is inclusive: with that many failures, nothing new starts in the group.
          for (const [at, { id }] of rules.entries())
            expect(ofGroup(id), world.log.join('\n')).toBe(counts[at]);
          expect(world.children.size).toBeGreaterThanOrEqual(before);
        }
      }),
      { numRuns: 150 },
    );
  });

  test('nothing waits while a slot is free, and every plan comes to its end', () => {
    fc.assert(
      fc.property(someGroups, draws, (groups, happenings) => {
        const world = new World(inputOf(groups));
        world.settle();
        for (const one of happenings) {
          happen(world, one);
          world.settle();
        }
        for (let rounds = 0; rounds < 500 && world.facts() !== undefined; rounds += 1) {
          for (const [id, { state }] of Object.entries(world.facts()?.records ?? {}))
            if (state === 'held') world.tell({ type: 'operator.resumeGroup', group: id });
          for (const child of world.open()) world.end(child, 'done');
          world.settle();
        }
        expect(world.snapshot.value, world.log.join('\n')).toBe('record');
      }),
      { numRuns: 150 },
    );
  });

  test('what starts depends on what happened, not on the order in which it is read', () => {
    fc.assert(
      fc.property(someGroups, draws, fc.nat(), (groups, happenings, seed) => {
        const world = new World(inputOf(groups));
        world.settle();
        for (const one of happenings) happen(world, one);
        const facts = world.facts();
        if (facts === undefined) return;
        const other = [...facts.children].toSorted(
          (one, two) => hashOf(keyOf(one), seed) - hashOf(keyOf(two), seed),
        );
        expect(schedule({ ...facts, children: other })).toEqual(schedule(facts));
      }),
      { numRuns: 100 },
    );
  });
});

function hashOf(text: string, seed: number): number {
  return [...text].reduce((sum, letter) => (sum * 31 + letter.charCodeAt(0) + seed) % 65_537, 7);
}
