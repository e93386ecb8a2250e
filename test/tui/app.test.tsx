import { render } from 'ink-testing-library';
import { expect, test, vi } from 'vitest';
import { App } from '../../src/tui/app.tsx';
import { glyphsFor } from '../../src/tui/glyphs.ts';
import { createHost } from '../../src/tui/host.ts';
import { createFakeRun } from './fake-run.ts';
import { VIEWS } from './fake-views.ts';

/** The component alone, on the terminal that the testing library makes: what a key does to the frame. */
function show(view: keyof typeof VIEWS) {
  let clock = 0;
  const run = createFakeRun(VIEWS[view]);
  const host = createHost({
    look: { glyphs: glyphsFor({ LC_ALL: 'C.UTF-8' }), colour: false },
    now: () => new Date(),
    // Each look at the clock is well past the time in which a question just shown ignores keys.
    monotonic: () => {
      clock += 1_000;
      return clock;
    },
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
