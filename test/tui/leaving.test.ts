import { expect, test } from 'vitest';
import { createFacts } from '../../src/tui/facts.ts';
import { glyphsFor } from '../../src/tui/glyphs.ts';
import { createHost, type Host } from '../../src/tui/host.ts';
import type { AppPort, ShowRun } from '../../src/view/app/app-port.ts';
import { createFakeRun, type FakeRun } from './fake-run.ts';
import { VIEWS } from './fake-views.ts';
import { randomFrom } from './random.ts';
import { rowOf } from './walker-checks.ts';
import { createWorld } from './walker-world.ts';

const SIZE = { columns: 80, rows: 24 };
const now = () => new Date();

/** The app with one open run on its list; what resuming it does is up to the test. */
function openApp(resume: AppPort['resume'], monotonic = () => performance.now()): Host {
  const world = createWorld(randomFrom(1), now);
  const row = {
    runbook: 'rotate-key',
    version: '1',
    instance: 'orders',
    mode: 'LIVE',
    where: 'here',
  } as const;
  const times = { startedAt: '2026-11-21T03:00:00Z', lastAt: '2026-11-21T03:00:00Z' };
  const port: AppPort = {
    ...world,
    resume,
    loaders: {
      ...world.loaders,
      runs: async (_, emit) =>
        emit([{ ...row, ...times, runId: 'run-1', status: 'open', proven: false, followUps: 0 }]),
    },
  };
  return createHost({
    look: { glyphs: glyphsFor({ LANG: 'C.UTF-8' }), colour: false },
    now,
    monotonic,
    readMoment: async () => ({ problem: 'not asked' }),
    write: () => undefined,
    lend: (act) => act(),
    suspend: () => undefined,
    onDone: () => undefined,
    app: { port, facts: createFacts(port.loaders, now) },
  });
}

async function resumeIn(host: Host): Promise<void> {
  host.open({ name: 'runs' });
  await expect
    .poll(() =>
      host
        .top()
        ?.keys()
        .find(({ label }) => label === 'resume'),
    )
    .toMatchObject({ disabled: undefined });
  host.press({ kind: 'key', key: 'enter' }, SIZE);
}

const shown = async (show: ShowRun, run: FakeRun): Promise<readonly string[]> => {
  await show(run);
  return [];
};

test('a run that has ended but was not read yet does not keep a person from leaving', async () => {
  const run = createFakeRun(VIEWS.outcome);
  run.finish({ how: 'ended', exitCode: 0 });
  const host = openApp((_, show) => shown(show, run));
  await resumeIn(host);
  await expect.poll(() => host.top()?.title()).toBe('run of rotate-key');
  await host.leave('the terminal was lost');
  host.stop();
});

test('a run that was still opening when the app was left is left too, for the same reason', async () => {
  const opened = Promise.withResolvers<void>();
  const run = createFakeRun(VIEWS.choice);
  const host = openApp(async (_, show) => {
    await opened.promise;
    return shown(show, run);
  });
  await resumeIn(host);
  const leaving = host.leave('the terminal was lost');
  opened.resolve();
  await leaving;
  expect(run.reasons).toEqual(['the terminal was lost']);
  host.stop();
});

/** Each look at it is well past the time in which a question just shown ignores keys. */
function unhurried(): () => number {
  let at = 0;
  return () => (at += 1_000);
}

const press = (host: Host, ...keys: readonly string[]) => {
  for (const key of keys) host.press({ kind: 'key', key, text: key }, SIZE);
};

test.each([
  ['a run that is stopped for it', VIEWS.lost, ['w', 'down', 'enter']],
  ['a run that was stopped', VIEWS.stopped, ['w']],
] as const)('%s leads to the page that begins the recovery, and starts nothing', async (_, view, keys) => {
  const run = createFakeRun(view, (answer, self) => {
    self.show(VIEWS.stopped);
    self.finish({ how: 'ended', exitCode: 1 });
    expect(answer).toEqual({ event: 'operator.stop', text: 'stopped to go on with another run on orders' });
  });
  if (view === VIEWS.stopped) run.finish({ how: 'ended', exitCode: 1 });
  const host = openApp((_id, show) => shown(show, run), unhurried());
  await resumeIn(host);
  await expect.poll(() => host.top()?.title()).toBe('run of rotate-key');
  press(host, ...keys);
  await expect.poll(() => host.top()?.title()).toBe('start');
  expect(host.top()?.request).toEqual({
    name: 'start',
    situation: 'region-gone',
    instance: 'orders',
    target: 'orders-dr',
  });
  expect(run.calls).toEqual([]);
  press(host, 'escape');
  expect(host.top()?.title()).toBe('runs');
  await host.leave('the terminal was lost');
  host.stop();
});

test('a run that owns the process is not stopped for a recovery that cannot be started after it', async () => {
  const run = createFakeRun(VIEWS.lost);
  const host = openApp(async () => [], unhurried());
  void host.showRun(run);
  await expect.poll(() => host.top()?.title()).toBe('run of rotate-key');
  const way = host
    .top()
    ?.keys()
    .find(({ label }) => label === 'suggestion');
  expect(way?.disabled).toMatch(/in the app/u);
  // The command is shown to be copied, and no key is offered that could not begin it.
  const screen = Array.from({ length: SIZE.rows }, (_, row) => rowOf(host.layOut(SIZE), row)).join('\n');
  expect(screen).toContain('lifeboat run disaster-recovery orders --target orders-dr --perform');
  expect(screen).toContain('(y copies it)');
  expect(screen).not.toMatch(/suggestion|\(w/u);
  // The dialogue is not there: Enter answers the question.
  press(host, 'w', 'enter');
  expect(run.answers).toEqual([{ event: 'operator.retry' }]);
  await host.leave('the terminal was lost');
  host.stop();
});

/** As a terminal sends Alt and a key, and Escape and the key in one piece. */
const withAlt = (host: Host, key: string) => {
  const alone = { kind: 'key', key, text: key } as const;
  host.press({ kind: 'key', key: `meta+${key}`, afterEscape: alone }, SIZE);
};

test('Escape and a key that arrive together lead back, and the key is then pressed on the screen beneath', async () => {
  const host = openApp(async () => []);
  host.open({ name: 'board' });
  await expect.poll(() => host.top()?.title()).toBe('all instances');
  host.open({ name: 'runs' });
  await expect.poll(() => host.top()?.title()).toBe('runs');
  withAlt(host, 'J');
  await expect.poll(() => host.top()?.title()).toBe('journal');
  press(host, 'escape');
  expect(host.top()?.title()).toBe('all instances');
  host.stop();
});

test('a letter with Alt in a filter is not a command of the list', async () => {
  const host = openApp(async () => []);
  host.open({ name: 'board' });
  await expect.poll(() => host.top()?.title()).toBe('all instances');
  press(host, '/', 'o');
  expect(host.top()?.isTyping()).toBe(true);
  withAlt(host, 'b');
  expect(host.top()?.isTyping()).toBe(true);
  withAlt(host, 'J');
  expect(host.top()?.isTyping()).toBe(false);
  await host.leave('the terminal was lost');
  expect(host.top()?.title()).toBe('all instances');
  host.stop();
});
