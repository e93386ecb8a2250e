import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Question } from '../../machines/parts/question.ts';
import { LifeboatError } from '../../src/base/errors.ts';
import type { ShownChild } from '../../src/plans/conductor-port.ts';
import { childOf, failureOf, NOW_MS, viewOf } from '../view/plan/fake-plan.ts';
import { ASCII, SIZE, SIZES } from './fake-fleet.ts';
import { openedPlan } from './fake-plan-port.ts';

beforeEach(() =>
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] }),
);
afterEach(() => void vi.useRealTimers());

/** Lets what a key has begun come to its end. */
const settle = () => vi.advanceTimersByTimeAsync(250);

const TWO_FAILED = () => viewOf({ children: [failureOf('db-1'), failureOf('db-2')] });
const CONFIRM: Question = {
  kind: 'typed-name',
  prompt: 'type data to replace the data of 2: db-1-dr, db-2-dr',
  order: 'recover the group data into db-1-dr, db-2-dr',
  expected: 'data',
  event: 'operator.confirm',
  stakes: { overwritten: 'everything that db-1-dr, db-2-dr hold', lost: 'an hour', wayBack: 'none' },
  options: [],
};

describe('the screen of a plan', () => {
  test.each(SIZES)('fits $columns x $rows on every page', (size) => {
    const plan = openedPlan(TWO_FAILED());
    expect(plan.text(size)).toContain('west');
    plan.keys('enter');
    expect(plan.rows(size, ASCII)).toHaveLength(size.rows);
    plan.keys('down', 'enter');
    expect(plan.text(size)).toContain('reason:');
    plan.keys('escape', 'escape', 'G', 'up', 'up', 'enter');
    expect(plan.rows(size)).toHaveLength(size.rows);
  });

  test('shows the state of each instance without colour and without Unicode', () => {
    const plan = openedPlan(viewOf({ children: [childOf('db-1'), failureOf('db-2')] }));
    const text = plan.rows({ columns: 100, rows: 30 }, ASCII).join('\n');
    expect(text).toMatch(/> db-1 -> db-1-dr +1\/2 recover +at work +4 min +restoring the backup/u);
    expect(text).toMatch(/x db-2 -> db-2-dr +1\/2 recover +failure asks/u);
    expect(text).toMatch(/\. db-3/u);
  });

  test('shows a question of several instances once, with the number that ask it', () => {
    const plan = openedPlan(TWO_FAILED());
    expect(plan.text()).toContain('waits for you: 1');
    expect(plan.text()).toMatch(/2 ask .*the restore of TARGET failed/u);
  });

  test('gives one answer to all instances that ask', async () => {
    const plan = openedPlan(TWO_FAILED());
    plan.keys('enter');
    expect(plan.text()).toContain('answer for all 2');
    plan.keys('enter');
    await settle();
    expect(plan.did.answers).toEqual([
      { runId: 'RUN-db-1-recover', answer: { event: 'operator.tryAgain' } },
      { runId: 'RUN-db-2-recover', answer: { event: 'operator.tryAgain' } },
    ]);
    expect(plan.said()).toEqual(['answered for 2 instances']);
  });

  test('gives an answer to the marked instances alone', async () => {
    const plan = openedPlan(TWO_FAILED());
    plan.keys('enter', 'G', ' ', 'g', 'down', 'enter');
    plan.type('the disk is replaced');
    plan.keys('enter');
    await settle();
    expect(plan.did.answers).toEqual([
      { runId: 'RUN-db-2-recover', answer: { event: 'operator.stop', text: 'the disk is replaced' } },
    ]);
  });

  test('says how many did not accept an answer, and why', async () => {
    const refusal = new LifeboatError('answer.misfit', 'it waits for an approval');
    const plan = openedPlan(TWO_FAILED(), (runId) => (runId.includes('db-2') ? refusal : undefined));
    plan.keys('enter', 'enter');
    await settle();
    expect(plan.said()).toEqual(['1 of 2 did not take the answer: it waits for an approval']);
  });

  test('answers nothing that is no longer asked', async () => {
    const plan = openedPlan(TWO_FAILED());
    plan.keys('enter');
    plan.show(viewOf({ children: [childOf('db-1')] }));
    plan.keys('enter');
    await settle();
    expect(plan.did.answers).toEqual([]);
    expect(plan.said()).toEqual(['it is no longer asked: nothing was answered']);
    plan.show(TWO_FAILED());
    await settle();
    plan.keys('tab', 'enter');
    plan.show(viewOf());
    await settle();
    expect(plan.text()).toContain('this is no longer asked');
  });

  test('takes no answer from the key that opened the question while it is still held down', async () => {
    const plan = openedPlan(TWO_FAILED());
    plan.hold('enter', 40);
    await settle();
    expect(plan.did.answers).toEqual([]);
  });

  test('confirms a group only with its name, below everything that is at stake', async () => {
    const plan = openedPlan(viewOf({ question: CONFIRM, state: 'waiting' }));
    plan.keys('enter');
    expect(plan.text()).toContain('overwritten: everything that db-1-dr, db-2-dr hold');
    plan.keys('enter');
    plan.type('dat');
    plan.keys('enter');
    expect(plan.did.answers).toEqual([]);
    plan.keys('a', 'enter');
    await settle();
    expect(plan.did.answers).toEqual([
      { runId: 'plan', answer: { event: 'operator.confirm', typed: 'data' } },
    ]);
  });

  test('takes text typed before its only field was selected, whatever letter it begins with', async () => {
    for (const typed of ['data', 'quick', 'jk']) {
      const plan = openedPlan(viewOf({ question: { ...CONFIRM, expected: typed }, state: 'waiting' }));
      plan.keys('enter');
      plan.type(typed);
      plan.keys('enter');
      await settle();
      expect(plan.did.answers).toEqual([{ runId: 'plan', answer: { event: 'operator.confirm', typed } }]);
    }
  });

  test('asks for a key in a hidden field, and gives it to the run that asks', async () => {
    const question: Question = {
      kind: 'secret',
      prompt: 'the key of the backup',
      event: 'operator.giveKey',
      twice: false,
      isNew: false,
      minLength: 1,
      options: [],
    };
    const plan = openedPlan(viewOf({ children: [childOf('db-1', { state: 'waiting', question })] }));
    plan.keys('enter', 'enter');
    await settle();
    expect(plan.did.answers.map(({ answer }) => Object.keys(answer))).toEqual([['event', 'secret']]);
    expect(plan.did.answers[0]?.answer.secret?.reveal()).toBe('a key that nobody sees');
  });

  test('retries every run that waits for the same credentials', async () => {
    const paused = { state: 'waiting', isPaused: true, problem: 'the token was refused' } as const;
    const plan = openedPlan(viewOf({ children: [childOf('db-1', paused), childOf('db-2', paused)] }));
    plan.keys('enter', 'enter');
    await settle();
    expect(plan.did.woken).toEqual(['RUN-db-1-recover', 'RUN-db-2-recover']);
  });

  test('pauses the group under the cursor, and asks before a held group goes on', async () => {
    const plan = openedPlan(viewOf({ children: [childOf('db-1')] }));
    plan.keys('p');
    await settle();
    expect(plan.did.decisions.map(({ order }) => order)).toEqual(['pause data']);
    plan.show(viewOf({ state: 'held', data: { held: { why: 'failed', lanes: ['db-2'] } } }));
    await settle();
    plan.keys('p');
    expect(plan.did.decisions).toHaveLength(1);
    expect(plan.text()).toContain('let data go on without what failed');
    plan.keys('enter');
    await settle();
    expect(plan.did.decisions.at(-1)?.event).toEqual({ type: 'operator.resumeGroup', group: 'data' });
  });

  test('never pauses and resumes in turn while a key is held', async () => {
    const plan = openedPlan(viewOf());
    plan.hold('p', 20);
    await settle();
    expect(plan.did.decisions).toHaveLength(1);
  });

  test('stops a group by its typed name', async () => {
    const plan = openedPlan(viewOf());
    plan.keys('x');
    plan.type('data');
    plan.keys('enter');
    await settle();
    expect(plan.did.decisions.map(({ event }) => event)).toMatchObject([
      { type: 'operator.stopGroup', group: 'data' },
    ]);
  });

  test('takes an instance out with a reason, and retries, skips and closes a failed step', async () => {
    const plan = openedPlan(viewOf({ children: [childOf('db-1', { state: 'failed', endedMs: NOW_MS })] }));
    plan.keys('down', 'o');
    plan.type('no');
    plan.keys('enter');
    expect(plan.did.decisions).toEqual([]);
    plan.type(' longer needed');
    plan.keys('enter', 'a', 's');
    plan.type('it is empty');
    plan.keys('enter', 'd');
    plan.type('ticket 4711');
    plan.keys('enter');
    await settle();
    expect(plan.did.decisions.map(({ event }) => event)).toEqual([
      { type: 'operator.takeOut', group: 'data', lane: 'db-1', text: 'no longer needed' },
      { type: 'operator.tryAgain', group: 'data', lane: 'db-1', step: 'recover' },
      { type: 'operator.skipStep', group: 'data', lane: 'db-1', step: 'recover', text: 'it is empty' },
      { type: 'operator.doneOutside', group: 'data', lane: 'db-1', step: 'recover', text: 'ticket 4711' },
    ]);
  });

  test('says why a key does nothing here', () => {
    const plan = openedPlan(viewOf({ children: [childOf('db-1')] }));
    plan.keys('o', 'down', 'a');
    expect(plan.said()).toEqual(['move to an instance first', 'recover of db-1 is under way: it ends first']);
  });

  test('shows an instance with its steps, its run, and the newest lines of that run', async () => {
    const plan = openedPlan(viewOf({ children: [childOf('db-1')] }));
    plan.keys('down', 'enter');
    expect(plan.text()).toContain('reading the journal');
    await settle();
    expect(plan.text()).toContain('run RUN-db-1-recover');
    expect(plan.text()).toContain('the newest line of RUN-db-1-recover');
    expect(plan.text()).toMatch(/▸ recover +disaster-recovery +under way/u);
    plan.keys('escape');
    expect(plan.text()).toContain('groups');
  });

  test('keeps the cursor on its instance when a question comes up above it', () => {
    const plan = openedPlan(viewOf({ children: [childOf('db-1')] }));
    plan.keys('down', 'down');
    plan.show(TWO_FAILED());
    vi.advanceTimersByTime(250);
    expect(plan.rows().find((row) => row.includes('❯'))).toContain('db-2');
  });

  const doneAt = (lane: string, step: string): ShownChild =>
    childOf(lane, { step, state: 'done', endedMs: NOW_MS - 5_000, sinceMs: NOW_MS - 5_000 });
  const allDone = (given: Parameters<typeof viewOf>[0] = {}) =>
    viewOf({
      instances: 2,
      state: 'done',
      data: { ended: 'done' },
      children: ['db-1', 'db-2'].flatMap((lane) => [doneAt(lane, 'recover'), doneAt(lane, 'look')]),
      ...given,
    });

  test('folds a group that is done, and unfolds it on a key', () => {
    const plan = openedPlan(allDone());
    expect(plan.text()).toMatch(/\+ data +done/u);
    expect(plan.text()).not.toContain('db-1');
    plan.keys('enter');
    expect(plan.text()).toMatch(/db-1.*\n.*db-2/u);
  });

  test('leaves a finished group unfolded if it has a warning or the cursor', () => {
    const [first, ...others] = allDone().groups;
    const lanes =
      first?.lanes.map((lane, at) => (at === 0 ? { ...lane, tone: 'warn' as const } : lane)) ?? [];
    const warned = { ...allDone(), groups: first === undefined ? [] : [{ ...first, lanes }, ...others] };
    expect(openedPlan(warned).text()).toContain('db-1');
    const plan = openedPlan(viewOf({ instances: 2, children: [childOf('db-1'), childOf('db-2')] }));
    plan.keys('down');
    plan.show(allDone());
    vi.advanceTimersByTime(250);
    expect(plan.rows().find((row) => row.includes('❯'))).toContain('db-1');
  });

  test('says, once it is over, how to read its report and how to list the remaining runs', () => {
    const outcome = { title: 'plan west has ended', tone: 'good', endedMs: NOW_MS } as const;
    const over = allDone({ outcome });
    expect(openedPlan(over).text()).toContain(`report: lifeboat report ${over.runId}`);
    expect(openedPlan(over).text()).not.toContain('plans show');
    const out = allDone({ outcome, data: { ended: 'done', out: { 'db-2': 'its key is wrong' } } });
    expect(openedPlan(out).text()).toContain(`what is left: lifeboat plans show ${out.runId}`);
    expect(openedPlan(allDone()).text()).not.toContain('lifeboat report');
  });

  test('says when a finished instance was done, and how long another has been at work', () => {
    const children = [doneAt('db-1', 'recover'), doneAt('db-1', 'look'), childOf('db-2')];
    const text = openedPlan(viewOf({ instances: 2, children })).text({ columns: 100, rows: 30 });
    expect(text).toMatch(/db-1.* done +11:59:55/u);
    expect(text).toMatch(/db-2.* at work +4 min/u);
  });

  test('puts the cursor on the first question when it appears, unless a person has moved it', () => {
    const plan = openedPlan(viewOf({ state: 'waiting' }));
    const here = () => plan.rows().find((row) => row.includes('❯'));
    expect(here()).toContain('data');
    const ask = (view: ReturnType<typeof viewOf>) => {
      plan.show(view);
      vi.advanceTimersByTime(250);
    };
    ask(viewOf({ question: CONFIRM, state: 'waiting' }));
    expect(here()).toContain('the plan  type data');
    // A failure is the first question then, and takes the cursor from nobody.
    ask(viewOf({ question: CONFIRM, children: [failureOf('db-1')] }));
    expect(here()).toContain('the plan  type data');
  });

  test('moves on to the next question of the plan once one is answered', async () => {
    const plan = openedPlan(viewOf({ question: CONFIRM, state: 'waiting' }));
    const here = () => plan.rows().find((row) => row.includes('❯'));
    plan.keys('enter');
    plan.type('data');
    plan.keys('enter');
    await settle();
    plan.show(viewOf({ state: 'waiting' }));
    await settle();
    expect(here()).toContain('data');
    const next = { ...CONFIRM, prompt: 'type second to replace the data of 1: db-9-dr', expected: 'second' };
    plan.show(viewOf({ question: next, state: 'waiting' }));
    await settle();
    expect(here()).toContain('the plan  type second');
  });

  test('moves on to the next question even while the answered one is still drawn', async () => {
    const plan = openedPlan(viewOf({ question: CONFIRM, state: 'waiting' }));
    const here = () => plan.rows().find((row) => row.includes('❯'));
    plan.keys('enter');
    plan.type('data');
    plan.keys('enter');
    await settle();
    expect(here()).toContain('the plan  type data');
    const next = { ...CONFIRM, prompt: 'type second to replace the data of 1: db-9-dr', expected: 'second' };
    plan.show(viewOf({ question: next, state: 'waiting' }));
    await settle();
    expect(here()).toContain('the plan  type second');
  });

  test('shows the full effect of each answer where there is room', () => {
    const why =
      'until the next scheduled backup the restored data cannot be brought back, and nobody is told';
    const options = (['one', 'two'] as const).map((name) => ({
      event: { type: `operator.${name}` as const },
      label: name,
      hint: `${why} (${name})`,
    }));
    const question: Question = { kind: 'choice', prompt: 'what now?', options };
    const plan = openedPlan(viewOf({ children: [childOf('db-1', { state: 'failing', question })] }));
    plan.keys('enter');
    const shown = plan.text().replaceAll(/\s+/gu, ' ');
    for (const type of ['one', 'two']) expect(shown).toContain(`${why} (${type})`);
    plan.keys('down');
    const small = plan.text({ columns: 80, rows: 12 }).replaceAll(/\s+/gu, ' ');
    expect(small).toContain(`${why} (two)`);
    expect(small).not.toContain(`${why} (one)`);
  });

  test('announces no next step in a stopped group: what did not begin is marked as not run', () => {
    const children = [
      childOf('db-1', { state: 'done', endedMs: NOW_MS }),
      childOf('db-2', { state: 'done' }),
    ];
    const plan = openedPlan(viewOf({ children, state: 'stopped', data: { waves: 1, ended: 'stopped' } }));
    const text = plan.text({ columns: 100, rows: 30 });
    expect(text).toMatch(/data +stopped +wave 1 of 2 +6 not run/u);
    expect(text).toMatch(/db-1 -> db-1-dr +2\/2 look +stopped/u);
    expect(text).toMatch(/db-3 -> db-3-dr +not run/u);
    expect(text).not.toMatch(/db-\d.* (?:next|later)/u);
  });

  test('filters the instances, and draws only the visible ones of five hundred', () => {
    const plan = openedPlan(viewOf({ instances: 500 }));
    expect(plan.text()).toMatch(/1 to 19 of 503/u);
    plan.keys('/', '4', '9', '9', 'enter');
    expect(plan.text()).toContain('db-499');
    expect(plan.text()).not.toContain('db-498');
    plan.keys('escape');
    expect(plan.did.left).toBe(0);
  });

  test('leaves with q, Esc and Ctrl-C without asking', () => {
    for (const key of ['q', 'escape', 'ctrl+c']) {
      const plan = openedPlan(viewOf());
      plan.keys(key);
      expect(plan.did.left).toBe(1);
    }
  });

  test('builds the view once for many events at the same time', () => {
    const view = viewOf();
    const plan = openedPlan(view);
    let looks = 0;
    plan.screen.subscribe(() => {
      looks += 1;
    });
    for (let event = 0; event < 1_000; event += 1) plan.show(view);
    vi.advanceTimersByTime(250);
    expect(looks).toBe(1);
  });

  test('has a key table without duplicates', () => {
    const plan = openedPlan(TWO_FAILED());
    plan.rows(SIZE);
    const keys = plan.screen.keys().flatMap((key) => key.keys);
    expect(keys.toSorted()).toEqual([...new Set(keys)].toSorted());
  });
});
