import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isoOf } from '../../src/base/date.ts';
import { type Duty, gapsOf } from '../../src/evidence/gaps.ts';

const DAY = 24 * 60 * 60_000;
const START = Date.UTC(2026, 0, 1);
const SPAN = { from: START, until: START + 180 * DAY };

/** A duty to be done every 30 days, done on these days after the beginning of the year. */
function duty(days: readonly number[], more: Partial<Duty> = {}): Duty {
  const done = [days.map((day) => START + day * DAY)];
  return { ...{ what: 'rotation', subject: 'orders', asked: '', limitMs: 30 * DAY, done }, ...more };
}

/** The gaps in days after the beginning of the year. */
function days(of: Duty, waivers: Parameters<typeof gapsOf>[2] = []) {
  return gapsOf(of, SPAN, waivers).map(({ from, to }) => [
    (Date.parse(from) - START) / DAY,
    (Date.parse(to) - START) / DAY,
  ]);
}

describe('the gaps of a period', () => {
  test('cover the whole period where nothing was ever done, and begin when an action no longer counts', () => {
    expect(days(duty([]))).toEqual([[0, 180]]);
    expect(days(duty([-20, 40, 60, 170]))).toEqual([
      [10, 40],
      [90, 170],
    ]);
    expect(days(duty([-10, 20, 50, 80, 110, 140, 150]))).toEqual([]);
  });

  test('say whether they are still open at the end of the period', () => {
    expect(gapsOf(duty([0, 60]), SPAN, []).map(({ isOpen }) => isOpen)).toEqual([false, true]);
  });

  test('end only when enough people have done the action', () => {
    const two = duty([], { done: [[START], [START + 10 * DAY], [START + 100 * DAY]], atLeast: 2 });
    expect(days(two)).toEqual([
      [0, 10],
      [30, 180],
    ]);
  });

  test('are certain only before the first entry, for actions that leave no entry when nothing changed', () => {
    const quiet = gapsOf(duty([10, 60], { isQuiet: true }), SPAN, []);
    expect(quiet.map(({ isCertain }) => isCertain)).toEqual([true, false, false]);
    expect(gapsOf(duty([], { isQuiet: true }), SPAN, []).map(({ isCertain }) => isCertain)).toEqual([true]);
  });

  test('are covered by a waiver of their check while it lasts, and then belong to its owner', () => {
    const waiver = (day: number, check = 'restored', instance = 'orders') => ({
      ...{ instance, check, reason: 'moving', until: isoOf(START + day * DAY), owner: 'Kim' },
    });
    const gap = (...waivers: ReturnType<typeof waiver>[]) =>
      gapsOf(duty([], { check: 'restored', who: 'Robin' }), SPAN, waivers)[0];
    expect(gap(waiver(180))).toMatchObject({ who: 'Kim', waiver: { covers: 'all', reason: 'moving' } });
    expect(gap(waiver(179))?.waiver?.covers).toBe('part');
    expect(gap(waiver(0))).toMatchObject({ who: 'Robin' });
    for (const other of [waiver(0), waiver(180, 'escrow'), waiver(180, 'restored', 'payments')])
      expect(gap(other)?.waiver).toBeUndefined();
  });

  test('are exactly the times when fewer people than required have done the action within the limit', () => {
    const times = fc.array(fc.array(fc.integer({ min: -40, max: 220 }), { maxLength: 6 }), { maxLength: 3 });
    fc.assert(
      fc.property(
        times,
        fc.integer({ min: 1, max: 60 }),
        fc.integer({ min: 1, max: 3 }),
        (by, limit, least) => {
          const done = by.map((some) => some.map((day) => START + day * DAY));
          const found = days(duty([], { done, limitMs: limit * DAY, atLeast: least }));
          const all = Array.from({ length: 180 }, (_, day) => day);
          const isDone = (some: readonly number[], day: number) =>
            some.some((at) => at <= day && day < at + limit);
          expect(all.filter((day) => found.some(([from = 0, to = 0]) => from <= day && day < to))).toEqual(
            all.filter((day) => by.filter((some) => isDone(some, day)).length < least),
          );
        },
      ),
    );
  });
});
