import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { PATIENCE_MS, patienceFrom, watchOverdue } from '../../src/commands/run/leave-overdue.ts';

const MINUTE = 60_000;

function overdue(seconds: number, limitSeconds: number) {
  const overSeconds = seconds - limitSeconds;
  return { seconds, overSeconds, limitSeconds, basis: 'default' as const, detail: 'nothing tells' };
}

describe('a wait that no person watches', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  function watched(patienceMs: number) {
    const said: string[] = [];
    return { said, watch: watchOverdue(patienceMs, (why) => said.push(why)) };
  }

  test('is left once it has been over its limit for the given time, even if it reports nothing more', () => {
    const { said, watch } = watched(PATIENCE_MS);
    watch.look('step', undefined);
    watch.look('step', overdue(910, 900));
    vi.advanceTimersByTime(PATIENCE_MS - 10_001);
    expect(said).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(said).toEqual(['the step has taken 45 min, which is too long: nothing tells']);
    vi.advanceTimersByTime(72 * 60 * MINUTE);
    expect(said).toHaveLength(1);
  });

  test('continues when there is progress', () => {
    const { said, watch } = watched(MINUTE);
    watch.look('step', overdue(301, 300));
    vi.advanceTimersByTime(30_000);
    watch.look('step', undefined);
    vi.advanceTimersByTime(60 * MINUTE);
    expect(said).toEqual([]);
  });

  test('is left after two days, whatever progress there is; the next step counts from zero', () => {
    const { said, watch } = watched(MINUTE);
    watch.look('one', undefined);
    vi.advanceTimersByTime(47 * 60 * MINUTE);
    watch.look('two', undefined);
    for (let hours = 1; hours < 48; hours += 1) {
      vi.advanceTimersByTime(60 * MINUTE);
      watch.look('two', undefined);
    }
    expect(said).toEqual([]);
    vi.advanceTimersByTime(60 * MINUTE);
    expect(said).toEqual([expect.stringContaining('which is too long')]);
  });

  test('leaves no timer behind', () => {
    const { watch } = watched(MINUTE);
    watch.look('step', overdue(301, 300));
    watch.stop();
    expect(vi.getTimerCount()).toBe(0);
  });
});

test('--patience must be a duration', () => {
  expect([patienceFrom(undefined), patienceFrom('1h30m')]).toEqual([undefined, 90 * MINUTE]);
  expect(() => patienceFrom('soon')).toThrow('--patience soon is not a duration');
  expect(() => patienceFrom('30d')).toThrow('--patience 30d is not between 0s and 2d');
});
