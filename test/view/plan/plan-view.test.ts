import { describe, expect, test } from 'vitest';
import type { ResolvedGroup, Step } from '../../../machines/parts/plan.ts';
import type { Question } from '../../../machines/parts/question.ts';
import type { PlanContext } from '../../../machines/plan.ts';
import { aboutStep, outOrUp, pauseOrResume, stopping } from '../../../src/view/plan/plan-decisions.ts';
import type { GroupView, LaneView, PlanView } from '../../../src/view/plan/plan-view.ts';
import { childOf, failureOf, foldOf, NOW_MS, viewOf } from './fake-plan.ts';

const dataOf = ({ groups }: PlanView): GroupView => groups.find(({ id }) => id === 'data') as GroupView;
const laneOf = (view: PlanView, name: string): LaneView =>
  dataOf(view).lanes.find((lane) => lane.name === name) as LaneView;

const CONFIRM: Question = {
  kind: 'typed-name',
  prompt: 'type db-1-dr',
  order: 'recover db-1 into db-1-dr',
  expected: 'db-1-dr',
  event: 'operator.confirm',
  stakes: { overwritten: 'db-1-dr', lost: 'an hour', wayBack: 'none' },
  options: [],
};

test('a plan that is over does not grow older, nor do its instances', () => {
  const outcome = { title: 'stopped', tone: 'warn', endedMs: NOW_MS } as const;
  const view = viewOf({ outcome, nowMs: NOW_MS + 60_000, children: [failureOf('db-1')] });
  expect(view).toMatchObject({ nowMs: NOW_MS, elapsedSeconds: 600 });
});

describe('the view of the run of a plan', () => {
  test('says the mode, the time against the RTO, and of each group its wave, counts and stop rule', () => {
    const view = viewOf({ children: [childOf('db-1'), failureOf('db-2')] });
    expect(view).toMatchObject({ mode: 'REHEARSAL', plan: 'west', elapsedSeconds: 600, rtoSeconds: 1800 });
    expect(dataOf(view)).toMatchObject({
      words: 'nothing new starts: a failure asks',
      wave: { at: 1, of: 2 },
      counts: { done: 0, atWork: 1, waiting: 0, failed: 1, later: 4, out: 0, left: 0 },
      stopRule: 'stops with failure 2 of 6 instances',
    });
    expect(view.groups.map(({ id, words }) => `${id}: ${words}`)).toContain('notice: waits for data');
  });

  test('keeps listing the run that a stopped group has left, with the command that resumes it, and asks nothing', () => {
    for (const [state, ended] of [
      ['stopping', undefined],
      ['stopped', 'stopped'],
    ] as const) {
      const left = { ...failureOf('db-1'), isLeft: true };
      const view = viewOf({ state, data: { ended }, children: [left] } as never);
      expect(laneOf(view, 'db-1')).toMatchObject({ is: 'left', state: 'left open', tone: 'warn', at: 1 });
      expect(laneOf(view, 'db-1').words).toMatch(/^recover: lifeboat resume RUN-db-1-recover, which asks: /u);
      expect(laneOf(view, 'db-1').steps[0]).toMatchObject({ is: 'left' });
      expect(dataOf(view).counts).toMatchObject({ left: 1, failed: 0, waiting: 0 });
      expect(view.asks).toEqual([]);
    }
  });

  test('shows an instance as failed after a failure that the plan passed, also once its group is over', () => {
    for (const state of ['running', 'done', 'stopped'] as const) {
      const { snapshot } = foldOf({ state, data: { ended: state === 'running' ? undefined : state } });
      const { input } = snapshot.context as PlanContext;
      const [data, ...others] = input.groups as [ResolvedGroup, ...ResolvedGroup[]];
      const [recover, ...more] = data.steps as [Step, ...Step[]];
      const passing = { ...recover, onFailure: 'continue' as const, because: 'reports may wait' };
      const groups = [{ ...data, steps: [passing, ...more] }, ...others];
      const children = [
        childOf('db-1', { state: 'failed', problem: 'restore 1 is failed', sinceMs: NOW_MS - 9_000 }),
        ...(state === 'stopped' ? [] : [childOf('db-1', { step: 'look', state: 'done', endedMs: NOW_MS })]),
      ];
      const context = { ...(snapshot.context as PlanContext), input: { ...input, groups } };
      const view = viewOf({ snapshot: { ...snapshot, context }, children });
      expect(laneOf(view, 'db-1'), state).toMatchObject({
        ...{ is: 'failed', state: 'failed', tone: 'bad', at: 1, words: 'restore 1 is failed' },
      });
      expect(dataOf(view).counts).toMatchObject({ done: 0, failed: 1 });
      expect(dataOf(view).tone).not.toBe('good');
    }
  });

  test('says of checks that a stopped plan has passed over that they were not run', () => {
    const { snapshot } = foldOf({ data: { ended: 'stopped' } });
    const over = viewOf({ snapshot: { ...snapshot, value: 'stopped' } });
    expect(over.groups.map(({ id, state }) => `${id}: ${state}`)).toEqual([
      'data: stopped',
      'notice: notRun',
      'healthy: notRun',
    ]);
    const asked = viewOf({ snapshot: { ...snapshot, value: 'confirm' } });
    expect(asked.groups.at(-1)).toMatchObject({ id: 'healthy', state: 'waiting' });
  });

  test('names the run of an instance that was taken out after a failure', () => {
    const left = { ...failureOf('db-1'), isLeft: true };
    const out = viewOf({ data: { out: { 'db-1': 'its disk is full' } }, children: [left] });
    expect(laneOf(out, 'db-1').words).toMatch(
      /^its disk is full; recover: lifeboat resume RUN-db-1-recover/u,
    );
  });

  test('asks the question of a run whose step was skipped, and says why it has to be answered', () => {
    const passed = { 'db-1/recover': { how: 'skipped', text: 'it may wait' } } as const;
    const view = viewOf({ data: { passed }, children: [{ ...failureOf('db-1'), isLeft: true }] });
    expect(view.asks).toMatchObject([{ facts: [expect.stringContaining('offers no end')] }]);
    expect(laneOf(view, 'db-1').steps[0]?.note).toContain('lifeboat resume RUN-db-1-recover');
  });

  test('says by how much a person is over the time of a manual step', () => {
    const late = (sinceMs: number) => {
      const view = viewOf({
        due: '5m',
        children: [
          childOf('db-1', { state: 'done', endedMs: NOW_MS - 900_000 }),
          childOf('db-1', { step: 'look', state: 'waiting', sinceMs }),
        ],
      });
      const { words, tone } = laneOf(view, 'db-1');
      return [words, tone];
    };
    expect(late(NOW_MS - 4 * 60_000)).toEqual([expect.not.stringContaining('LATE'), 'warn']);
    expect(late(NOW_MS - 9 * 60_000)).toEqual([expect.stringMatching(/^LATE by 4 ?m/u), 'bad']);
  });

  test('shows each instance with its target, its step, its activity, and since when', () => {
    const view = viewOf({
      children: [
        childOf('db-1', { state: 'done', endedMs: NOW_MS - 1_000 }),
        childOf('db-1', { step: 'look', state: 'waiting' }),
      ],
    });
    expect(laneOf(view, 'db-1')).toMatchObject({ target: 'db-1-dr', at: 2, state: 'waits for you' });
    expect(laneOf(view, 'db-1').steps.map(({ is }) => is)).toEqual(['done', 'open']);
    expect(laneOf(view, 'db-2')).toMatchObject({ at: 1, state: 'next' });
    expect(laneOf(view, 'db-3')).toMatchObject({ at: undefined, state: 'later' });
  });

  test('asks once what several instances ask in the same words except for their names', () => {
    const [ask, ...others] = viewOf({ children: [failureOf('db-2'), failureOf('db-1')] }).asks;
    expect(others).toEqual([]);
    expect(ask).toMatchObject({ tone: 'bad', prompt: 'the restore of TARGET failed: no answer within 20 s' });
    expect(ask?.lanes.map(({ shown }) => shown)).toEqual(['db-1', 'db-2']);
    expect(ask?.options.map(({ label }) => label)).toEqual(['restore TARGET again', 'stop here']);
  });

  test('asks separately what differs in more than the names', () => {
    const { asks } = viewOf({ children: [failureOf('db-1'), failureOf('db-2', 'the disk is full')] });
    expect(asks.map(({ prompt }) => prompt)).toEqual([
      'the restore of db-1-dr failed: no answer within 20 s',
      'the restore of db-2-dr failed: the disk is full',
    ]);
  });

  test('never accepts one typed name for two instances', () => {
    const confirm = (lane: string) => childOf(lane, { state: 'waiting', question: CONFIRM });
    const { asks } = viewOf({ children: [confirm('db-1'), confirm('db-2')] });
    expect(asks.map(({ lanes }) => lanes.length)).toEqual([1, 1]);
    expect(asks[0]?.options[0]?.needs).toMatchObject({ what: 'name', expected: 'db-1-dr' });
    expect(asks[0]?.facts).toContain('lost: an hour');
  });

  test("puts the plan's own question first, then failures, then groups that are held", () => {
    const own: Question = { kind: 'choice', prompt: 'go on?', options: [] };
    const { asks } = viewOf({
      question: own,
      state: 'held',
      data: { held: { why: 'failed', lanes: ['db-2'] } },
      children: [childOf('db-1', { state: 'waiting', question: own }), failureOf('db-2')],
    });
    expect(asks.map(({ of }) => of.is)).toEqual(['plan', 'lanes', 'group', 'lanes']);
    expect(asks[2]?.options.map(({ label }) => label)).toEqual([
      'let data go on without what failed',
      'stop data',
    ]);
  });

  test('says of a run that was left without a question that it waits to be resumed', () => {
    const [ask] = viewOf({ children: [childOf('db-1', { state: 'waiting' })] }).asks;
    expect(ask?.prompt).toBe('it was left, and waits to be taken up');
  });

  test('tells a watcher that it waits for a person, and the driver that it waits for you', () => {
    const waits = (whom: 'you' | 'a person') =>
      laneOf(viewOf({ children: [childOf('db-1', { state: 'waiting' })], whom }), 'db-1').state;
    expect([waits('you'), waits('a person')]).toEqual(['waits for you', 'waits for a person']);
  });

  test('no longer asks a question whose answer waits for a free slot', () => {
    const view = viewOf({ children: [{ ...failureOf('db-1'), isAnswered: true }] });
    expect(view.asks).toEqual([]);
    expect(laneOf(view, 'db-1')).toMatchObject({ state: 'answered', words: 'waits for a free slot' });
  });

  test('offers to retry what waits for credentials', () => {
    const paused = { state: 'waiting', isPaused: true, problem: 'the token was refused' } as const;
    const [ask] = viewOf({ children: [childOf('db-1', paused), childOf('db-2', paused)] }).asks;
    expect(ask).toMatchObject({ prompt: 'the token was refused', options: [{ label: 'try again' }] });
    expect(ask?.lanes).toHaveLength(2);
  });
});

describe('what a person may decide', () => {
  test('follows the state of the group, with a reason where it does not fit', () => {
    const running = dataOf(viewOf());
    expect(pauseOrResume(running)).toMatchObject({ decision: { order: 'pause data' }, disabled: undefined });
    const held = dataOf(viewOf({ state: 'held', data: { held: { why: 'promotion', lanes: [] } } }));
    expect(pauseOrResume(held).decision.order).toBe('let the next wave of data begin');
    const done = dataOf(viewOf({ state: 'done', data: { ended: 'done' } }));
    expect(pauseOrResume(done).disabled).toBe('data does not run: it is done');
    expect(stopping(done).disabled).toBe('data cannot be stopped: it is done');
    expect(stopping(running).decision.needs).toMatchObject({ what: 'name', expected: 'data' });
  });

  test('never offers a second run of a step that is under way', () => {
    const view = viewOf({ children: [failureOf('db-1')] });
    const { tryAgain, skip, doneOutside } = aboutStep(dataOf(view), laneOf(view, 'db-1'));
    for (const { disabled } of [tryAgain, skip, doneOutside])
      expect(disabled).toBe('recover of db-1 is under way: answer what it asks');
  });

  test('is to retry a failed step, to skip it, or to mark it as done', () => {
    const view = viewOf({ children: [childOf('db-1', { state: 'failed', endedMs: NOW_MS })] });
    const { tryAgain, skip, doneOutside } = aboutStep(dataOf(view), laneOf(view, 'db-1'));
    expect([tryAgain, skip, doneOutside].map(({ disabled }) => disabled)).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
    expect(tryAgain.decision.event).toEqual({
      ...{ type: 'operator.tryAgain', group: 'data', lane: 'db-1', step: 'recover' },
    });
  });

  test('is to take an instance out, and to take it up again', () => {
    const view = viewOf();
    expect(outOrUp(dataOf(view), laneOf(view, 'db-2')).decision.event.type).toBe('operator.takeOut');
    const without = viewOf({ data: { out: { 'db-2': 'it is empty' } } });
    expect(laneOf(without, 'db-2')).toMatchObject({ state: 'out', words: 'it is empty' });
    expect(outOrUp(dataOf(without), laneOf(without, 'db-2')).decision.event.type).toBe('operator.takeUp');
  });
});
