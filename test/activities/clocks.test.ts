import { describe, expect, test } from 'vitest';
import { type Clocks, elapsedMs, nextLook, side } from '../../src/activities/clocks.ts';
import { instantOf } from '../../src/base/instant.ts';

const ARMED = Date.parse('2026-03-01T03:00:00Z');
const IN_FLIGHT = 60_000;

describe('the clocks around a lost request', () => {
  const clocks = (changes: Partial<Clocks>): Clocks => ({
    armedAtMs: ARMED,
    nowMs: ARMED + IN_FLIGHT,
    inFlightMs: IN_FLIGHT,
    skewBefore: { skewMs: 0, uncertaintyMs: 0 },
    skewNow: { skewMs: 0, uncertaintyMs: 0 },
    ...changes,
  });

  test('a clock of this machine that is set forward does not end the waiting', () => {
    expect(nextLook(clocks({}))).toBeUndefined();
    expect(nextLook(clocks({ skewNow: { skewMs: -600_000, uncertaintyMs: 0 } }))).toBeDefined();
  });

  test('if one clock was set, only what lies before by both is before', () => {
    const set = clocks({ skewNow: { skewMs: -600_000, uncertaintyMs: 0 } });
    expect(side(ARMED - 300_000, clocks({}))).toBe('before');
    expect(side(ARMED - 300_000, set)).toBe('after');
    expect(side(ARMED - 700_000, set)).toBe('before');
    expect(side(ARMED, clocks({ skewBefore: null, skewNow: undefined }))).toBe('unknown');
  });

  test('a time of the service is UTC unless it says otherwise, and an incomplete one is invalid', () => {
    const same = ['2026-03-01T03:00:00Z', '2026-03-01T03:00:00.000', '2026-03-01T04:00:00+01:00'];
    const spelled = ['2026-03-01 03:00:00 UTC', '2026-03-01T03:00:00+0000', ' 2026-03-01T03:00:00z '];
    for (const text of [...same, ...spelled]) expect(instantOf(text), text).toBe(ARMED);
    for (const text of [undefined, '', 'soon', '7', '2026-03-01', '2026-03-01T03:00', '2026-13-01T03:00:00Z'])
      expect(instantOf(text), text).toBeUndefined();
  });
});

test('a clock that was set far back does not prolong the waiting by the same amount', () => {
  const clocks = {
    armedAtMs: 10_000_000,
    inFlightMs: 60_000,
    skewBefore: { skewMs: 0, uncertaintyMs: 500 },
  };
  const hour = 3_600_000;
  const afterMs = (ms: number) => ({
    ...clocks,
    nowMs: clocks.armedAtMs - hour + ms,
    skewNow: { skewMs: hour, uncertaintyMs: 500 },
  });
  expect(elapsedMs(afterMs(30_000))).toBe(29_000);
  expect(nextLook(afterMs(30_000))).toBeDefined();
  expect(nextLook(afterMs(62_000))).toBeUndefined();
  // With nothing to compare it with, the waiting continues: nothing is decided too early.
  expect(nextLook({ ...afterMs(62_000), skewBefore: null })).toBeDefined();
});

test('a clock that was set far forward, before or after the loss, neither ends the wait nor makes it endless', () => {
  const day = 86_400_000;
  const armedAtMs = 10_000_000;
  const waited = (lostAtMs: number, ms: number) =>
    elapsedMs({
      armedAtMs,
      lostAtMs,
      nowMs: armedAtMs + day + ms,
      inFlightMs: 60_000,
      skewBefore: { skewMs: 0, uncertaintyMs: 500 },
      skewNow: { skewMs: -day, uncertaintyMs: 500 },
    });
  // Set between the sending and the loss, whose moment is in the new time.
  expect(waited(armedAtMs + day, 30_000)).toBe(30_000);
  // Set after the loss.
  expect(waited(armedAtMs, 30_000)).toBe(29_000);
  // Missed long before, by the old time.
  expect(waited(armedAtMs, 40 * 60_000)).toBe(40 * 60_000 - 1_000);
});
