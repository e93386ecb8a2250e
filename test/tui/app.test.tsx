import { render } from 'ink-testing-library';
import { expect, test, vi } from 'vitest';
import { App } from '../../src/tui/app.tsx';
import { glyphsFor } from '../../src/tui/glyphs.ts';
import { createStore } from '../../src/tui/store.ts';
import { createFakeRun } from './fake-run.ts';
import { VIEWS } from './fake-views.ts';

/** The component alone, on the terminal that the testing library makes: what a key does to the frame. */
function show(view: keyof typeof VIEWS) {
  let clock = 0;
  const run = createFakeRun(VIEWS[view]);
  const store = createStore(run, {
    // Each look at the clock is well past the time in which a question just shown ignores keys.
    now: () => {
      clock += 1_000;
      return clock;
    },
    readMoment: async () => ({ problem: 'not asked' }),
    onLeave: () => undefined,
    onClose: () => undefined,
  });
  const app = render(
    <App store={store} look={{ glyphs: glyphsFor({ LC_ALL: 'C.UTF-8' }), colour: false }} />,
  );
  const stop = () => {
    app.unmount();
    store.stop();
  };
  return { run, app, frame: () => app.lastFrame() ?? '', stop };
}

test('the question mark opens the help, and Escape leads back to the question', async () => {
  const { app, frame, stop } = show('choice');
  const question = frame();
  app.stdin.write('?');
  await vi.waitFor(() => expect(frame()).toContain('help'));
  expect(frame()).not.toBe(question);
  app.stdin.write('\u001b');
  await vi.waitFor(() => expect(frame().split('\n').length).toBe(question.split('\n').length));
  stop();
});

test('several keys that come in one piece are no command', async () => {
  const { app, run, frame, stop } = show('choice');
  app.stdin.write('q\r');
  app.stdin.write('?');
  await vi.waitFor(() => expect(frame()).toContain('this help'));
  expect(run.answers).toEqual([]);
  stop();
});
