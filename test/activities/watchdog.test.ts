import { afterEach, describe, expect, test, vi } from 'vitest';
import type { Progress, ReadActivity } from '../../src/activities/activity.ts';
import type { ActivityDeps } from '../../src/activities/deps.ts';
import { waitForInstance } from '../../src/activities/wait-for-instance.ts';
import { waitForBackup, waitForRestore } from '../../src/activities/wait-for-task.ts';
import { limitFrom, overdueSince, watchProgress } from '../../src/activities/watchdog.ts';
import { Backup, Restore } from '../../src/service/schemas.ts';
import { fakeService } from './fake-service.ts';
import { contextOf } from './world.ts';

const START = Date.parse('2026-03-01T03:00:00Z');
const MINUTE = 60_000;
const at = (ms: number) => new Date(START + ms).toISOString();
const BACKUPS = { what: 'backups', defaultSeconds: 1_800 };

afterEach(() => vi.useRealTimers());

/** A finished task that waited and worked for some minutes, triggered some minutes later than the first. */
const done = (waited: number, worked: number, later = 0) => ({
  status: 'done',
  triggered_at: at(later * MINUTE),
  started_at: at((later + waited) * MINUTE),
  finished_at: at((later + waited + worked) * MINUTE),
});

describe('the limit of a task', () => {
  test('is three times the median of those that finished here, and one and a half times the longest', () => {
    expect(limitFrom([done(0, 2), done(0, 4), done(0, 3)], 'running', BACKUPS, undefined)).toEqual({
      seconds: 9 * 60,
      basis: 'history',
      detail: 'the last 3 finished backups took 2 min to 4 min, median 3 min',
    });
    const withSlow = [done(0, 2), done(0, 2), done(0, 10)];
    expect(limitFrom(withSlow, 'running', BACKUPS, undefined).seconds).toBe(15 * 60);
  });

  test('counts the newest twenty, whatever the order in which the service lists them', () => {
    const slow = Array.from({ length: 20 }, (_, hour) => done(0, 10, hour * 60));
    const newer = Array.from({ length: 20 }, (_, hour) => done(0, 2, (100 + hour) * 60));
    for (const tasks of [
      [...slow, ...newer],
      [...newer, ...slow],
    ])
      expect(limitFrom(tasks, 'running', BACKUPS, undefined).seconds).toBe(6 * 60);
  });

  test('ignores an outlier: one task that hung for a day does not raise the limit to two days', () => {
    const limit = limitFrom([done(0, 2), done(0, 2), done(0, 1_440)], 'running', BACKUPS, undefined);
    expect(limit.seconds).toBe(20 * 60);
  });

  test('is at least a minute by history, since queues and networks vary', () => {
    expect(limitFrom([done(0, 0.05)], 'running', BACKUPS, undefined)).toMatchObject({
      seconds: 60,
      detail: 'the last finished one of the backups took 3 s',
    });
  });

  test('compares time in the queue with time in queues, and working time with working time', () => {
    const tasks = [done(5, 1), done(5, 1)];
    expect(limitFrom(tasks, 'queued', BACKUPS, undefined)).toMatchObject({
      seconds: 15 * 60,
      detail: 'the last 2 finished backups waited for their turn 5 min, median 5 min',
    });
    expect(limitFrom(tasks, 'running', BACKUPS, undefined).seconds).toBe(180);
  });

  test('compares the queue with the whole time of others if the service does not say when they began', () => {
    const tasks = [2, 4].map((minutes) => ({
      status: 'done',
      triggered_at: at(0),
      finished_at: at(minutes * MINUTE),
    }));
    expect(limitFrom(tasks, 'queued', BACKUPS, undefined)).toEqual({
      seconds: 6 * 60,
      basis: 'history',
      detail: 'the last 2 finished backups took 2 min to 4 min, their wait included, median 2 min',
    });
    expect(limitFrom(tasks.slice(1), 'queued', BACKUPS, undefined).detail).toBe(
      'the last finished one of the backups took 4 min, its wait included',
    );
  });

  test('comes from what is left of the objective if nothing has finished, or from a default without an objective', () => {
    const failed = [{ ...done(0, 2), status: 'failed' }, { status: 'done' }];
    const expected = { ...BACKUPS, rtoMs: 30 * MINUTE };
    expect(limitFrom(failed, 'running', expected, 12 * MINUTE)).toMatchObject({
      seconds: 720,
      basis: 'objective',
      detail: expect.stringContaining('RTO 30 min'),
    });
    expect(limitFrom(failed, 'running', expected, -MINUTE)).toMatchObject({
      seconds: 10,
      detail: expect.stringContaining('is used up'),
    });
    expect(limitFrom([], 'running', BACKUPS, undefined)).toMatchObject({ seconds: 1_800, basis: 'default' });
  });

  test('is reported when it is passed, and again only when twice that time has passed', () => {
    const limit = { seconds: 60, basis: 'default' as const, detail: '' };
    const passed = [60, 61, 119, 121, 239, 241].map(
      (seconds) => overdueSince(0, seconds * 1_000, limit)?.limitSeconds,
    );
    expect(passed).toEqual([undefined, 60, 60, 120, 120, 240]);
  });
});

describe('a wait', () => {
  test('for a backup says that it is overdue by the instance’s own history, from its trigger on', async () => {
    const { run, service, clock, seen } = begin(waitForBackup);
    service.backups.push(
      ...[1, 2].map((id) => Backup.parse({ id, ...done(0, 2) })),
      Backup.parse({ id: 5, status: 'running', triggered_at: at(0), started_at: at(0) }),
    );
    // It was triggered long before this process looks at it.
    clock.ms = START + 7 * MINUTE;
    finishAfter(service, 4, () => Object.assign(service.backups[2] ?? {}, { status: 'done' }));
    expect(await run({ id: 5 })).toMatchObject({ ok: true });
    expect(seen[1]?.overdue).toMatchObject({ basis: 'history', limitSeconds: 360, seconds: 420 });
    expect(seen.at(-1)?.overdue).toBeUndefined();
  });

  test('requests the history only after some time', async () => {
    const { run, service } = begin(waitForBackup);
    service.backups.push(Backup.parse({ id: 5, status: 'running', backup_id: 'x', triggered_at: at(0) }));
    finishAfter(service, 2, () => Object.assign(service.backups[0] ?? {}, { status: 'done' }));
    await run({ id: 5 });
    // At its end the list is read once, and must contain it.
    expect(service.calls).toEqual(['backup', 'backup', 'backups']);
  });

  test('for a restore measures the time in the queue and the time at work separately', async () => {
    const { run, service, clock, seen } = begin(waitForRestore);
    service.restores.push(
      Restore.parse({ id: 1, ...done(10, 1) }),
      Restore.parse({ id: 5, status: 'queued', triggered_at: at(0) }),
    );
    clock.ms = START + 20 * MINUTE;
    const states = ['queued', 'running', 'running', 'done'];
    service.beforeRead = () => {
      if (service.calls.at(-1) !== 'restores') clock.ms += 2 * MINUTE;
      Object.assign(service.restores[1] ?? {}, { status: states[Math.min(3, reads(service, 'restore'))] });
    };
    await run({ id: 5 });
    const [queued, atWork] = ['queued', 'running'].map((status) =>
      seen.filter((one) => one.kind === 'task' && one.status === status),
    );
    // 22 minutes in the queue are within earlier waits; 24 at work since its trigger are not.
    expect(queued?.map(({ overdue }) => overdue)).toEqual([undefined]);
    expect(atWork?.[0]?.overdue).toMatchObject({ basis: 'history', limitSeconds: expect.any(Number) });
  });

  test('for the instance uses what is left of the objective, counted from the beginning of the run', async () => {
    const { run, service, clock, seen } = begin(waitForInstance, { rtoMs: 30 * MINUTE });
    service.overview = { state: 'deploying' };
    service.beforeRead = () => {
      clock.ms += 4 * MINUTE;
      if (clock.ms > START + 40 * MINUTE) service.overview = { state: 'available' };
    };
    clock.ms = START + 20 * MINUTE;
    await run({});
    const first = seen.find(({ overdue }) => overdue !== undefined);
    expect(first?.overdue).toMatchObject({ basis: 'objective', limitSeconds: 600 });
  });

  test('continues if the history cannot be read', async () => {
    const { run, service, clock, seen } = begin(waitForBackup);
    service.backups.push(Backup.parse({ id: 5, status: 'running', triggered_at: at(0) }));
    Object.assign(service.deps.service, { backups: async () => Promise.reject(new Error('out of order')) });
    clock.ms = START + 31 * MINUTE;
    finishAfter(service, 3, () => Object.assign(service.backups[0] ?? {}, { status: 'failed' }));
    expect(await run({ id: 5 })).toMatchObject({ ok: false, failure: { code: 'backup.failed' } });
    expect(seen[1]?.overdue).toMatchObject({ basis: 'default' });
  });

  test('sees the end while the request for the history hangs, and then stops that request', async () => {
    const { run, service, clock, seen } = begin(waitForBackup);
    service.backups.push(Backup.parse({ id: 5, status: 'running', backup_id: 'x', triggered_at: at(0) }));
    const asked: (AbortSignal | undefined)[] = [];
    const backups = (signal?: AbortSignal) => {
      asked.push(signal);
      return asked.length === 1 ? new Promise<never>(() => undefined) : whole();
    };
    const whole = service.deps.service.backups;
    Object.assign(service.deps.service, { backups });
    clock.ms = START + 31 * MINUTE;
    finishAfter(service, 3, () => Object.assign(service.backups[0] ?? {}, { status: 'done' }));
    expect(await run({ id: 5 })).toMatchObject({ ok: true });
    expect(seen.map(({ overdue }) => overdue)).toEqual([undefined, undefined, undefined]);
    expect(asked[0]?.aborted).toBe(true);
  });
});

describe('a step that reports progress', () => {
  const limit = { seconds: 60, basis: 'default' as const, detail: 'no data has arrived since then' };
  const bytes = (count: number): Progress => ({ kind: 'bytes', done: count, total: 9, what: 'a file' });

  test('is overdue when nothing moves, and no longer overdue once something does', () => {
    vi.useFakeTimers({ now: START });
    const reported: Progress[] = [];
    const watched = watchProgress({ report: (one) => reported.push(one), now: () => new Date() }, limit);
    watched.report(bytes(1));
    vi.advanceTimersByTime(59_000);
    watched.report(bytes(2));
    vi.advanceTimersByTime(59_000);
    expect(reported.map(({ overdue }) => overdue)).toEqual([undefined, undefined]);
    vi.advanceTimersByTime(2_000);
    expect(reported.at(-1)).toMatchObject({ done: 2, overdue: { limitSeconds: 60 } });
    vi.advanceTimersByTime(61_000);
    expect(reported.at(-1)).toMatchObject({ overdue: { limitSeconds: 120 } });
    watched.report(bytes(3));
    expect(reported.at(-1)?.overdue).toBeUndefined();
    watched.stop();
    const count = reported.length;
    vi.advanceTimersByTime(600_000);
    expect(reported).toHaveLength(count);
  });
});

function reads(service: ReturnType<typeof fakeService>, name: string): number {
  return service.calls.filter((call) => call === name).length;
}

/** Acts before the read with this number. */
function finishAfter(service: ReturnType<typeof fakeService>, read: number, act: () => unknown): void {
  let count = 0;
  service.beforeRead = () => {
    count += 1;
    if (count === read) act();
  };
}

/** A waiting verb on a service in memory, in a run that began at 03:00:00. Only the test moves the clock. */
function begin<Input, Output>(
  verb: (deps: ActivityDeps) => ReadActivity<Input, Output>,
  objectives: ActivityDeps['objectives'] = {},
) {
  const clock = { ms: START };
  const service = fakeService(() => clock.ms);
  const seen: Progress[] = [];
  const context = contextOf(() => new Date(clock.ms), {
    report: (progress) => seen.push(progress),
    begunAt: at(0),
  });
  const deps = { ...service.deps, objectives };
  return { run: (input: Input) => verb(deps).run(input, context), service, seen, clock };
}
