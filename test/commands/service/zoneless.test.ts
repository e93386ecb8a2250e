import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { doneBackups } from '../../../src/activities/baseline.ts';
import { edgesOf } from '../../../src/commands/service/pitr.ts';
import { took } from '../../../src/commands/service/tasks.ts';
import { Backup, PitrRange } from '../../../src/service/schemas.ts';

const HALF_A_MINUTE = { triggered_at: '2026-03-01T00:00:00', finished_at: '2026-03-01T00:00:30Z' };

// Far from UTC, so that a time that is read as local is hours off.
beforeEach(() => vi.stubEnv('TZ', 'Asia/Tokyo'));
afterEach(() => vi.unstubAllEnvs());

test('a range of points in time without zones is in UTC', () => {
  const range = PitrRange.parse({ start_time: '2026-03-01T00:00:00', end_time: '2026-03-01 02:00:00.5' });
  expect(edgesOf(range)).toEqual({
    start: Date.UTC(2026, 2, 1),
    end: Date.UTC(2026, 2, 1, 2, 0, 0, 500),
  });
});

test('the duration of a task is shown even if only one of its times has a zone', () => {
  expect(took(Backup.parse({ id: 1, status: 'done', ...HALF_A_MINUTE }))).toBe('30 s');
});

test('the duration of a task is shown only when it has ended, and no longer once its status changed afterwards', () => {
  const shown = ['failed', 'deleted', 'running'].map((status) =>
    took(Backup.parse({ id: 1, status, ...HALF_A_MINUTE })),
  );
  expect(shown).toEqual(['30 s', undefined, undefined]);
});

test('the newest backup is the newest in UTC', () => {
  const done = (id: number, triggered_at: string) => Backup.parse({ id, status: 'done', triggered_at });
  expect(
    doneBackups([done(1, '2026-02-03T00:30:00'), done(2, '2026-02-03T00:10:00Z')]).map(({ id }) => id),
  ).toEqual([1, 2]);
});
