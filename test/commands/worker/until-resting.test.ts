import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { untilResting } from '../../../src/commands/worker/until-resting.ts';

const SLOW_MS = 10_000;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A run whose activity the test sets, and whether it rests by now. */
function driven() {
  const listeners = new Set<() => void>();
  let activity: { readonly verb: string; readonly since: string } | undefined;
  let rests = false;
  let begun = 0;
  const resting = untilResting(
    {
      activity: () => activity,
      subscribe(listener) {
        listeners.add(listener);
        return () => void listeners.delete(listener);
      },
    },
    SLOW_MS,
  );
  void resting.then(() => {
    rests = true;
  });
  return {
    listeners,
    begin(verb: string) {
      begun += 1;
      activity = { verb, since: `2026-11-26T03:00:${String(begun).padStart(2, '0')}Z` };
      for (const listener of listeners) listener();
    },
    progress() {
      for (const listener of listeners) listener();
    },
    async passes(ms: number) {
      await vi.advanceTimersByTimeAsync(ms);
      return rests;
    },
  };
}

test('a run that waits for a task occupies no place of its worker', async () => {
  const run = driven();
  run.begin('preflight');
  expect(await run.passes(0)).toBe(false);
  run.begin('waitForRestore');
  expect(await run.passes(0)).toBe(true);
  expect(run.listeners.size).toBe(0);
});

test.each(['preflight', 'performRecovery', 'createBackup', 'setKey', 'restageApp'])(
  'a run whose %s is not answered for a long time occupies no place of its worker',
  async (verb) => {
    const run = driven();
    run.begin(verb);
    expect(await run.passes(SLOW_MS - 1)).toBe(false);
    run.progress();
    expect(await run.passes(1)).toBe(true);
  },
);

test('calls that are answered in time keep the place, however many follow one another', async () => {
  const run = driven();
  for (let nth = 0; nth < 5; nth += 1) {
    run.begin('unbindApp');
    expect(await run.passes(SLOW_MS - 1)).toBe(false);
  }
});

test.each(['verifyBackup', 'downloadBackup', 'runCommand'])(
  'a %s uses this machine, so it keeps its place',
  async (verb) => {
    const run = driven();
    run.begin(verb);
    expect(await run.passes(100 * SLOW_MS)).toBe(false);
  },
);
