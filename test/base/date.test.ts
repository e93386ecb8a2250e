import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { httpDate, isoOf } from '../../src/base/date.ts';

// Far from UTC, so that a time read as local is hours off.
beforeEach(() => vi.stubEnv('TZ', 'Asia/Tokyo'));
afterEach(() => vi.unstubAllEnvs());

test.each([
  'Sun, 06 Nov 1994 08:49:37 GMT',
  'Sunday, 06-Nov-94 08:49:37 GMT',
  'Sun Nov  6 08:49:37 1994',
  'Sun, 06 Nov 1994 10:49:37 +0200',
  '1994-11-06T08:49:37Z',
])('the date %s of an HTTP message is the same moment in any zone of this machine', (text) => {
  expect(isoOf(httpDate(text) ?? 0)).toBe('1994-11-06T08:49:37.000Z');
});

test.each([undefined, 7, '', '7', 'soon', 'Sun, 99 Nov 1994 08:49:37 GMT'])('%s is not a date', (text) => {
  expect(httpDate(text)).toBeUndefined();
});
