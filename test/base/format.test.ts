import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { formatSeconds, formatSpan, formatTime, readable, timeOr, utcTime } from '../../src/base/format.ts';

describe('a length of time', () => {
  test.each([
    [0, '0 s'],
    [0.02, '0.1 s'],
    [1.1, '1.1 s'],
    [9.91, '10 s'],
    [12.004, '13 s'],
    [59.2, '1 min'],
    [1800, '30 min'],
    [1800.4, '30 min 1 s'],
    [3600, '1 h'],
    [3600.1, '1 h 0 min 1 s'],
    [7385, '2 h 3 min 5 s'],
  ])('of %d s that was measured is shown as %s', (seconds, text) => {
    expect(formatSeconds(seconds)).toBe(text);
  });

  test('that was measured never looks shorter than it is, so that a missed limit in whole seconds never looks kept', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 200_000 }),
        fc.integer({ min: 1, max: 900_000 }),
        (limit, over) => {
          const [shown, allowed] = [formatSeconds(limit + over / 1000), formatSeconds(limit)];
          expect(inSeconds(shown)).toBeGreaterThan(inSeconds(allowed));
        },
      ),
    );
  });

  test('that is within its limit never looks longer than that limit', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 200_000 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (limit, share) => {
          expect(inSeconds(formatSeconds(limit * share))).toBeLessThanOrEqual(
            inSeconds(formatSeconds(limit)),
          );
        },
      ),
    );
  });

  test.each([
    [59, '59 s'],
    [200, '3 min 20 s'],
    [7500, '2 h 5 min'],
    [7501, '2 h 6 min'],
    [7199, '2 h'],
  ])('of %d s that counts down or up has at most two units: %s', (seconds, text) => {
    expect(formatSpan(seconds)).toBe(text);
  });
});

describe('a time', () => {
  test.each([
    ['2026-11-21T03:04:05+01:00', '2026-11-21 02:04:05', '2026-11-21 02:04:05 UTC'],
    [
      'Sat Nov 21 03:04:05 2026',
      'Sat Nov 21 03:04:05 2026 (zone unknown)',
      'Sat Nov 21 03:04:05 2026 (zone unknown)',
    ],
  ])('%s gets no zone that was not stated, in a column of UTC and in a sentence', (text, cell, sentence) => {
    expect(timeOr(text)).toBe(cell);
    expect(utcTime(text)).toBe(sentence);
  });

  test.each([
    ['2026-11-21T03:04:05Z', '2026-11-21 03:04:05'],
    ['2026-11-21T03:04:05.678+01:00', '2026-11-21 02:04:05'],
    ['2026-11-21T03:04:05', '2026-11-21 03:04:05'],
    ['2026-11-21 03:04:05', '2026-11-21 03:04:05'],
    ['2026-11-21 03:04:05.678+01', '2026-11-21 02:04:05'],
    ['Sat, 21 Nov 2026 03:04:05', 'Sat, 21 Nov 2026 03:04:05'],
    ['yesterday', 'yesterday'],
  ])('%s is shown as %s in any zone of this machine', (text, shown) => {
    const zone = process.env['TZ'];
    try {
      process.env['TZ'] = 'America/New_York';
      expect(formatTime(text)).toBe(shown);
    } finally {
      if (zone === undefined) delete process.env['TZ'];
      else process.env['TZ'] = zone;
    }
  });

  test.each([
    ['backup 7 of 2026-11-21T03:04:05.678Z', 'backup 7 of 2026-11-21 03:04:05 UTC'],
    [
      'from 2026-11-21T03:04:05Z to 2026-11-21T04:04:05+01:00, whole',
      'from 2026-11-21 03:04:05 UTC to 2026-11-21 03:04:05 UTC, whole',
    ],
    ['until 2026-11-21T03:04:05Z UTC', 'until 2026-11-21 03:04:05 UTC'],
    ['not 2026-13-41T99:04:05Z', 'not 2026-13-41T99:04:05Z'],
    ['begin with `--time 2026-11-21T03:04:05Z`', 'begin with `--time 2026-11-21T03:04:05Z`'],
    ['file backup-2026-11-21T03:04:05Z.tar', 'file backup-2026-11-21T03:04:05Z.tar'],
  ])('in the sentence "%s" is made readable, except in a command or a name', (text, shown) => {
    expect(readable(text)).toBe(shown);
  });

  test('makes no sentence longer than its limit, and lets nothing act on a terminal', () => {
    expect(readable(`\u001b[31m${'2026-11-21T03:04:05Z '.repeat(50)}`, 80)).toMatch(/^\ufffd\[31m.{74}…$/u);
  });
});

function inSeconds(text: string): number {
  const [, hours = '0', minutes = '0', seconds = '0'] =
    /^(?:(\d+) h ?)?(?:(\d+) min ?)?(?:([\d.]+) s)?$/.exec(text) ?? [];
  return Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds);
}
