import { stripVTControlCharacters } from 'node:util';
import { render } from 'ink-testing-library';
import { describe, expect, test } from 'vitest';
import { glyphsFor } from '../../src/tui/glyphs.ts';
import { createHost } from '../../src/tui/host.ts';
import { App } from '../../src/tui/take-screen.tsx';
import { soon } from '../bench-kit/soon.ts';
import { createFakeRun } from './fake-run.ts';
import { VIEWS } from './fake-views.ts';

/** Each look at the clock is well past the time in which a question just shown ignores keys. */
function unhurried(): () => number {
  let clock = 0;
  return () => (clock += 1_000);
}

/** The component alone, on the terminal that the testing library makes: what a key does to the frame. */
function show(view: keyof typeof VIEWS, monotonic = unhurried()) {
  const run = createFakeRun(VIEWS[view]);
  const host = createHost({
    look: { glyphs: glyphsFor({ LC_ALL: 'C.UTF-8' }), colour: false },
    now: () => new Date(),
    monotonic,
    readMoment: async () => ({ problem: 'not asked' }),
    write: () => undefined,
    lend: (act) => act(),
    suspend: () => undefined,
    onDone: () => undefined,
  });
  void host.showRun(run);
  const app = render(<App host={host} />);
  const stop = () => {
    app.unmount();
    host.stop();
  };
  return { run, app, frame: () => app.lastFrame() ?? '', stop };
}

test('the question mark opens the help, and Escape leads back to the question', async () => {
  const { app, frame, stop } = show('choice');
  const question = frame();
  app.stdin.write('?');
  await soon(() => expect(frame()).toContain('help'));
  expect(frame()).not.toBe(question);
  app.stdin.write('\u001b');
  await soon(() => expect(frame().split('\n').length).toBe(question.split('\n').length));
  stop();
});

test('several keys that arrive together are not a command', async () => {
  const { app, run, frame, stop } = show('choice');
  app.stdin.write('q\r');
  app.stdin.write('?');
  await soon(() => expect(frame()).toContain('this help'));
  expect(run.answers).toEqual([]);
  stop();
});

describe('Escape, and keys that arrive together with it', () => {
  /** The question stands long enough to be answered; then no time passes, as within one piece. */
  const shownBefore = () => {
    let looks = 0;
    return () => (looks++ === 0 ? 0 : 60_000);
  };
  const [down, keypadDown] = ['\u001b[B', '\u001bOB'];

  test.each([
    ['q, Down and Enter', `q${down}\r`],
    ['Down and Enter', `${down}\r`],
    ['Down of a keypad and Enter', `${keypadDown}\r`],
    ['Enter', '\r'],
    ['a digit and Enter', '2\r'],
    ['another Escape and Enter', '\u001b\r'],
  ])('%s ask whether to leave, and answer nothing', async (_, keys) => {
    const { app, run, frame, stop } = show('choice', shownBefore());
    app.stdin.write(`\u001b${keys}`);
    await soon(() => expect(frame()).toContain('leave this run?'));
    expect(run.answers).toEqual([]);
    expect(run.calls).toEqual([]);
    stop();
  });

  test('Ctrl-C leaves at once, as if pressed twice', async () => {
    const { app, run, frame, stop } = show('choice');
    app.stdin.write('\u001b\u0003');
    await soon(() => expect(run.calls).toEqual(['detach']));
    expect(frame()).not.toContain('leave this run?');
    stop();
  });

  test('Enter does not send the name that is in the field', async () => {
    const { app, run, frame, stop } = show('typedName');
    app.stdin.write('orders-dr');
    await soon(() => expect(frame()).toContain('❯ orders-dr'));
    app.stdin.write('\u001b\r');
    await soon(() => expect(frame()).toContain('nothing was typed, so nothing happens'));
    expect(run.answers).toEqual([]);
    stop();
  });

  test('what a field reads as Alt and a key stays that: Alt-B moves by a word', async () => {
    const { app, frame, stop } = show('text');
    app.stdin.write('one two');
    await soon(() => expect(frame()).toContain('one two'));
    app.stdin.write('\u001bb');
    app.stdin.write('X');
    await soon(() => expect(stripVTControlCharacters(frame())).toMatch(/one X.?two/u));
    stop();
  });
});

test('q asks whether to leave, and a second q does not close that question', async () => {
  const { app, run, frame, stop } = show('choice');
  app.stdin.write('q');
  await soon(() => expect(frame()).toContain('leave this run?'));
  app.stdin.write('q');
  app.stdin.write('\u001b[B');
  app.stdin.write('\r');
  await soon(() => expect(run.calls).toEqual(['detach']));
  expect(run.answers).toEqual([]);
  stop();
});
