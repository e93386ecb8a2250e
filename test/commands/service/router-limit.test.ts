import { describe, expect, it } from 'vitest';
import { leastSpeed, routerWarning } from '../../../src/commands/service/download.ts';

const MINUTE = 60_000;
const PACE = { done: 1_000_000, total: 60_000_000, elapsedMs: 20_000, limitMs: 15 * MINUTE, resumable: true };

describe('a download that the router will cut off', () => {
  it('is predicted with its speed, the time it takes and what will happen', () => {
    expect(routerWarning(PACE)).toBe(
      'at 48.8 KiB/s this takes 20 min, but the router of the platform ends requests after 15 min; it then goes on from there by itself',
    );
    expect(routerWarning({ ...PACE, resumable: false })).toContain('cannot go on from there');
  });

  it('is not predicted while it will finish in time, before there is a speed, or without a length', () => {
    expect(routerWarning({ ...PACE, total: 40_000_000 })).toBeUndefined();
    expect(routerWarning({ ...PACE, elapsedMs: 4_999, done: 1 })).toBeUndefined();
    expect(routerWarning({ ...PACE, total: undefined })).toBeUndefined();
    expect(routerWarning({ ...PACE, done: 0 })).toBeUndefined();
  });

  it('is announced with the speed that it needs, when that is more than a slow line has', () => {
    expect(leastSpeed(90_000_000_000, 15 * MINUTE)).toBe('it needs 95.4 MiB/s to be done in 15 min');
    expect(leastSpeed(800_000_000, 15 * MINUTE)).toBeUndefined();
    expect(leastSpeed(undefined, 15 * MINUTE)).toBeUndefined();
  });
});
