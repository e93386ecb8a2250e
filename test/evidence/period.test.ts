import { describe, expect, test } from 'vitest';
import { isoOf } from '../../src/base/date.ts';
import { daysOf, periodOf } from '../../src/evidence/period.ts';

const NOW = new Date('2026-11-28T17:51:00Z');

describe('the period of an evidence pack', () => {
  test('is from the beginning of its first day to the end of its last one, in UTC', () => {
    const span = periodOf({ from: '2024-02-28', to: '2024-02-29' }, NOW);
    expect([isoOf(span.from), isoOf(span.until)]).toEqual([
      '2024-02-28T00:00:00.000Z',
      '2024-03-01T00:00:00.000Z',
    ]);
    expect(daysOf(span)).toEqual({ first: '2024-02-28', last: '2024-02-29' });
  });

  test('ends with today if no last day is named', () => {
    expect(daysOf(periodOf({ from: '2026-11-28' }, NOW))).toEqual({
      first: '2026-11-28',
      last: '2026-11-28',
    });
  });

  test.each([
    ['2026-11-28T17:51:00Z', '2026-01-01', '2026-06-30'],
    ['2026-07-01T00:00:00Z', '2026-01-01', '2026-06-30'],
    ['2026-06-30T23:59:59Z', '2025-07-01', '2025-12-31'],
  ])('is the last full half-year without any given day: at %s from %s to %s', (at, first, last) => {
    expect(daysOf(periodOf({}, new Date(at)))).toEqual({ first, last });
  });

  test.each([
    ['no day of the calendar', { from: '2026-02-30' }, '--from is a day such as 2026-06-30, not 2026-02-30'],
    ['not a day alone', { from: '2026-02-03T00:00:00Z' }, '--from is a day such as'],
    ['hostile', { from: '2026-01-01', to: '\u001b[2J' }, '--to is a day such as'],
    ['an end without a beginning', { to: '2026-01-01' }, '--to needs the first day'],
    ['backwards', { from: '2026-02-02', to: '2026-02-01' }, 'ends before it begins'],
    ['still to come', { from: '2026-11-29' }, 'has not begun'],
  ])('is refused with exit 2 where it is %s', (_, given, message) => {
    const refusal = expect(() => periodOf(given, NOW));
    refusal.toThrow(expect.objectContaining({ code: 'usage.period', exitCode: 2 }));
    refusal.toThrow(message);
  });
});
