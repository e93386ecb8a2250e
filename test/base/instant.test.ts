import fc from 'fast-check';
import { expect, test } from 'vitest';
import { instantOf } from '../../src/base/instant.ts';

test('every moment is parsed as the platform parses it, in any zone', () => {
  const moments = fc.date({ min: new Date('1600-01-01'), max: new Date('2400-01-01'), noInvalidDate: true });
  fc.assert(
    fc.property(moments, fc.integer({ min: -14 * 60, max: 14 * 60 }), (moment, offset) => {
      expect(instantOf(moment.toISOString())).toBe(moment.getTime());
      const local = new Date(moment.getTime() + offset * 60_000).toISOString().slice(0, -1);
      const pad = (value: number) => String(value).padStart(2, '0');
      const size = Math.abs(offset);
      const zone = `${offset < 0 ? '-' : '+'}${pad(Math.floor(size / 60))}:${pad(size % 60)}`;
      expect(instantOf(`${local}${zone}`)).toBe(moment.getTime());
    }),
  );
});

test.each([
  undefined,
  7,
  '',
  'yesterday',
  '2026-03-01',
  '2026-03-01T02:59',
  '2026-02-30T02:59:00Z',
  '2026-03-01T24:00:00Z',
  '2026-03-01T02:59:00+99:00',
])('%s is not a moment', (text) => {
  expect(instantOf(text)).toBeUndefined();
});

test.each([
  '2026-03-01T02:59:00',
  '2026-03-01 02:59:00Z',
  '2026-03-01 04:59:00.000+02',
  '2026-03-01 02:59:00 UTC',
])('%s is the same moment, however the service, PostgreSQL or the journal writes it', (text) => {
  expect(instantOf(text)).toBe(Date.UTC(2026, 2, 1, 2, 59));
});
