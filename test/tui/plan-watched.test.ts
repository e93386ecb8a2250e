import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Question } from '../../machines/parts/question.ts';
import { LifeboatError } from '../../src/base/errors.ts';
import { show } from '../../src/base/text.ts';
import type { LiveScreen } from '../../src/tui/live-screen.ts';
import { planKeys } from '../../src/tui/screens/plan/plan-keys.ts';
import { FIRST } from '../../src/tui/screens/plan/plan-state.ts';
import { watchScreen } from '../../src/tui/screens/watch/watch.ts';
import type { PlanPort, PlanView } from '../../src/view/plan/plan-view.ts';
import { corpus } from '../hostile/corpus.ts';
import { childOf, failureOf, NOW_MS, viewOf } from '../view/plan/fake-plan.ts';
import { ASCII, press, SIZES, shownRows } from './fake-fleet.ts';
import { openedPlan } from './fake-plan-port.ts';

beforeEach(() =>
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] }),
);
afterEach(() => void vi.useRealTimers());

const settle = () => vi.advanceTimersByTimeAsync(250);

const DRIVEN = { driver: 'driven by ada (process 7 on box) since 2026-03-10 11:00:00 UTC', isFree: false };
const FREE = { driver: 'no process drives it now; resume it with: lifeboat resume RUN', isFree: true };

const NAME: Question = {
  kind: 'typed-name',
  prompt: 'type data to replace the data of 2: db-1-dr, db-2-dr',
  order: 'recover the group data into db-1-dr, db-2-dr',
  expected: 'data',
  event: 'operator.confirm',
  stakes: { overwritten: 'everything', lost: 'an hour', wayBack: 'none' },
  options: [],
};
/** Whatever a plan can ask: its own question, failures, a held group, a step of a person. */
const VIEWS: Readonly<Record<string, PlanView>> = {
  'that asks for a name': viewOf({ question: NAME, state: 'waiting' }),
  'with failures': viewOf({ children: [failureOf('db-1'), failureOf('db-2'), childOf('db-3')] }),
  'with a held group': viewOf({
    state: 'held',
    data: { held: { why: 'stop-rule', lanes: ['db-1', 'db-2'] } },
    children: [failureOf('db-1')],
  }),
  'that waits for credentials': viewOf({
    children: [childOf('db-1', { state: 'waiting', isPaused: true, problem: 'the token has ended' })],
  }),
  'that is abandoned while it runs': viewOf({
    children: [failureOf('db-1')],
    outcome: { title: 'abandoned: by hand', tone: 'warn', endedMs: NOW_MS },
  }),
};
const MOVES = ['up', 'down', 'tab', 'g', 'G', 'enter', 'enter', 'escape', '/'];

test.each(Object.keys(VIEWS))(
  'no key answers, decides or wakes anything for a watcher of a plan %s',
  async (name) => {
    for (const watched of [DRIVEN, FREE]) {
      const plan = openedPlan({ ...(VIEWS[name] as PlanView), watched });
      // From wherever keys lead, every key of the alphabet, and what a person would type after it.
      for (const move of MOVES)
        for (const key of [...'abcdefghijklmnoprstuvwxyz', ' ', 'enter']) {
          plan.keys(move, key, 'enter');
          plan.type('data');
          plan.keys('enter', 'escape', 'escape', 'escape');
        }
      await settle();
      expect([plan.did.answers, plan.did.decisions, plan.did.woken]).toEqual([[], [], []]);
      expect(plan.said().join('\n')).toContain('you look on');
    }
  },
);

test('each key that acts says how to take the plan over, once no process drives it', () => {
  const { runId, ...view } = viewOf({ children: [failureOf('db-1')] });
  const said = (watched: PlanView['watched']) =>
    new Set(
      planKeys(FIRST, { ...view, runId, ...(watched === undefined ? {} : { watched }) }).flatMap(
        ({ intent, disabled }) =>
          ['pause', 'stop', 'out', 'again', 'skip', 'outside'].includes(intent) ? [disabled] : [],
      ),
    );
  expect(said(FREE)).toEqual(new Set([`you look on; take it over with lifeboat resume ${runId}`]));
  expect(said(DRIVEN)).toEqual(
    new Set([`you look on; take it over with lifeboat resume ${runId} once nobody drives it`]),
  );
  expect(said(undefined)).not.toContain(`you look on; take it over with lifeboat resume ${runId}`);
});

test.each(SIZES)(
  'the headline says at $columns x $rows that you are watching, and who drives the plan',
  (size) => {
    const plan = openedPlan({ ...viewOf({ children: [childOf('db-1')] }), watched: DRIVEN });
    const text = plan.rows(size, ASCII).join('\n');
    expect(text).toContain('you look on: driven by ada');
    expect(plan.rows(size)).toHaveLength(size.rows);
    expect(text).toContain('q stop watching');
  },
);

test('a watcher can read a question in full, and gets no field', () => {
  const plan = openedPlan({ ...viewOf({ question: NAME, state: 'waiting' }), watched: DRIVEN });
  plan.keys('enter');
  expect(plan.text()).toContain('recover the group data into db-1-dr, db-2-dr');
  expect(plan.text()).not.toContain('Enter opens its field');
  expect(plan.screen.isTyping()).toBe(false);
});

test('an instance leads to its run and its entries, as for the person who drives the plan', () => {
  const plan = openedPlan({ ...viewOf({ children: [childOf('db-1')] }), watched: DRIVEN });
  plan.keys('down', 'enter', 'w');
  plan.keys('e');
  expect(plan.did.effects).toEqual([
    { type: 'open', screen: { name: 'watch', runId: 'RUN-db-1-recover' } },
    { type: 'open', screen: { name: 'journal', stream: 'run/RUN-db-1-recover' } },
  ]);
});

test('the end is shown once the plan is over, and q closes it', async () => {
  const plan = openedPlan({ ...viewOf({ children: [childOf('db-1')] }), watched: DRIVEN });
  plan.show({
    ...viewOf({ outcome: { title: 'plan west: every step is done', tone: 'good', endedMs: NOW_MS } }),
    watched: { driver: 'it is over', isFree: false },
  });
  await settle();
  expect(plan.text()).toContain('plan west: every step is done');
  expect(plan.text()).not.toContain('you look on');
  expect(plan.text()).toContain('q close');
  plan.keys('q');
  expect(plan.did.left).toBe(1);
});

test('no text of a driver, a question or a run reaches the terminal unescaped', () => {
  for (const text of corpus().slice(0, 80)) {
    const children = [failureOf('db-1', text), childOf('db-2', { where: text })];
    const plan = openedPlan({ ...viewOf({ children }), watched: { driver: text, isFree: true } });
    for (const row of plan.rows({ columns: 100, rows: 30 })) expect(row).toBe(show(row, 10_000));
  }
});

/** The screen `watch` of the app over a plan, or over why there is none. */
function watchedInApp(watch: () => Promise<PlanPort>) {
  const effects: unknown[] = [];
  const screen: LiveScreen = watchScreen({ name: 'watch', runId: 'RUN' })({
    request: { name: 'watch', runId: 'RUN' },
    facts: { get: () => ({ part: { state: 'unasked' }, isAsking: false }) } as never,
    now: () => new Date(NOW_MS),
    onEffect: (effect) => effects.push(effect),
    watch: async () => ({ of: 'plan', port: await watch() }),
  });
  return { screen, effects };
}

function portOf(view: PlanView, given: Partial<PlanPort> = {}): PlanPort {
  const never = async () => {
    throw new Error('it acted');
  };
  return {
    view: () => view,
    subscribe: () => () => undefined,
    answerPlan: never,
    answer: never,
    decide: never,
    wake: () => undefined,
    newest: async () => [],
    leave: async () => undefined,
    ended: new Promise(() => undefined),
    ...given,
  };
}

test('in the app, the run of a plan is watched on the screen of a plan, and released with it', async () => {
  let left = 0;
  const leave = async () => {
    left += 1;
  };
  const view = { ...viewOf({ children: [childOf('db-1')] }), watched: DRIVEN };
  const { screen, effects } = watchedInApp(async () => portOf(view, { leave }));
  const forget = screen.subscribe(() => undefined);
  await vi.waitFor(() => expect(screen.title()).toBe('watch: watched plan'));
  expect(shownRows(screen, { columns: 100, rows: 30 }).join('\n')).toContain('you look on');
  press(screen, 'escape');
  expect(effects).toEqual([{ type: 'back' }]);
  forget();
  await vi.waitFor(() => expect(left).toBe(1));
  expect(vi.getTimerCount()).toBe(0);
});

test('in the app, a plan that can no longer be followed says why', async () => {
  const broken = Promise.withResolvers<never>();
  broken.promise.catch(() => undefined);
  const view = { ...viewOf(), watched: DRIVEN };
  const { screen } = watchedInApp(async () => portOf(view, { ended: broken.promise }));
  screen.subscribe(() => undefined);
  await vi.waitFor(() => expect(screen.title()).toContain('plan'));
  broken.reject(new LifeboatError('store.gone', 'the database has gone'));
  await vi.waitFor(() =>
    expect(shownRows(screen, { columns: 100, rows: 30 }).join('\n')).toContain('the database has gone'),
  );
});
