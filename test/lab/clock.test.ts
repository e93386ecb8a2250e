import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  advanced,
  type Course,
  courseToLab,
  courseToReal,
  createLabClock,
  paced,
} from '../../src/lab/clock.ts';

const START = Date.UTC(2026, 0, 1);
const DAY = 86_400_000;

const Change = fc.record({
  after: fc.integer({ min: 0, max: DAY }),
  jump: fc.option(fc.integer({ min: 0, max: 400 * DAY })),
  rate: fc.double({ min: 1, max: 5_000, noNaN: true }),
});

/** Any history of a clock, and real moments before, within and after it. */
const History = fc.record({
  changes: fc.array(Change, { maxLength: 12 }),
  moments: fc.array(fc.integer({ min: -DAY, max: 13 * DAY }), { minLength: 2, maxLength: 30 }),
});

function courseOf(changes: readonly { after: number; jump: number | null; rate: number }[]): Course {
  let real = START;
  return changes.reduce<Course>((course, { after, jump, rate }) => {
    real += after;
    return jump === null ? paced(course, real, rate) : advanced(course, real, jump);
  }, []);
}

test('whatever jumps and speeds there were, a later moment never shows an earlier time', () => {
  fc.assert(
    fc.property(History, ({ changes, moments }) => {
      const course = courseOf(changes);
      const shown = moments.toSorted((a, b) => a - b).map((at) => courseToLab(course, START + at));
      expect(shown).toEqual(shown.toSorted((a, b) => a - b));
    }),
    { numRuns: 500 },
  );
});

test('every real millisecond can be recovered from its service time', () => {
  fc.assert(
    fc.property(History, ({ changes, moments }) => {
      const course = courseOf(changes);
      for (const at of moments) {
        const real = START + at;
        expect(Math.round(courseToReal(course, courseToLab(course, real)))).toBe(real);
      }
    }),
    { numRuns: 500 },
  );
});

test('a time that a jump skipped maps to the moment of the jump', () => {
  const course = advanced([], START, 30 * DAY);
  expect(courseToReal(course, START + DAY)).toBe(START);
  expect(courseToReal(course, START + 31 * DAY)).toBe(START + DAY);
  expect(courseToReal(course, START - DAY)).toBe(START - DAY);
});

test('skew changes the shown time, which still maps back to its moment', () => {
  let real = START;
  const clock = createLabClock(() => real);
  clock.rate(60);
  real += 1_000;
  expect(clock.now().getTime()).toBe(START + 60_000);
  clock.skew(-600_000);
  expect(clock.now().getTime()).toBe(START + 60_000 - 600_000);
  expect(clock.toReal(clock.now()).getTime()).toBe(real);
  expect(clock.facts()).toEqual({ now: clock.now(), rate: 60, skewMs: -600_000, aheadMs: 59_000 });
  expect(() => clock.advance(-1)).toThrow(RangeError);
  expect(() => clock.rate(0.5)).toThrow(RangeError);
  expect(() => clock.advance(8_000 * 365.25 * DAY)).toThrow(RangeError);
});

test('a caller that waits for a moment is woken when the clock jumps there, and not before', async () => {
  const clock = createLabClock();
  const ending = new AbortController();
  let woken = false;
  const waiting = clock.until(new Date(clock.now().getTime() + 40 * DAY), ending.signal).then(() => {
    woken = true;
  });
  clock.advance(39 * DAY);
  await new Promise(setImmediate);
  expect(woken).toBe(false);
  clock.advance(DAY);
  await waiting;
  expect(woken).toBe(true);
  const never = clock.until(new Date(clock.now().getTime() + DAY), ending.signal);
  ending.abort();
  await never;
});
