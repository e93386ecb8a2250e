import { describe, expect, test } from 'vitest';
import { clockMark, watchClock } from '../../src/commands/run/watch-clock.ts';
import { movedMeanwhile } from '../../src/runner/time-notes.ts';
import type { Entry, Json } from '../../src/store/journal.ts';

describe('a clock that is watched', () => {
  test('is recorded when it differs from the time that passed, once, with the amount', () => {
    let [wall, passed] = [1_000_000_000, 500];
    const { moved } = watchClock(
      () => wall * 1000,
      () => passed,
    );
    const go = (seconds: number, extra = 0) => {
      passed += seconds;
      wall += seconds + extra;
    };
    go(3600);
    expect(moved()).toBe(0);
    go(1, 7200);
    expect(moved()).toBe(7200);
    expect(moved()).toBe(0);
    go(60, -90);
    expect(moved()).toBe(-90);
    // Small corrections are normal; only their sum counts.
    for (let step = 0; step < 3; step += 1) {
      expect(moved()).toBe(0);
      go(60, 2);
    }
    expect(moved()).toBe(6);
  });

  test('is compared across processes only by marks of the same boot of the same machine', () => {
    const entry = (type: string, body: Json) => ({ type, body }) as Entry;
    const at = (leadSeconds: number, boot = 'a') => ({ boot, leadSeconds });
    const started = entry('run.started', { clock: at(100) });
    expect(movedMeanwhile([started], at(102))).toBe(0);
    expect(movedMeanwhile([started], at(3700))).toBe(3600);
    expect(movedMeanwhile([started], at(3700, 'b'))).toBe(0);
    expect(movedMeanwhile([started], undefined)).toBe(0);
    expect(movedMeanwhile([entry('run.started', {})], at(3700))).toBe(0);
    const noted = [started, entry('clock.moved', { seconds: 3600 })];
    expect(movedMeanwhile(noted, at(3700))).toBe(0);
    expect(movedMeanwhile(noted, at(100))).toBe(-3600);
    expect(movedMeanwhile([...noted, entry('run.resumed', { clock: at(3700) })], at(3700))).toBe(0);
  });

  test('has the same mark as long as it is not moved', () => {
    const [first, second] = [clockMark(), clockMark()];
    expect(second?.boot).toBe(first?.boot);
    expect(Math.abs((second?.leadSeconds ?? 0) - (first?.leadSeconds ?? 0))).toBeLessThan(5);
  });
});
