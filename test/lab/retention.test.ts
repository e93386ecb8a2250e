import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import { Secret } from '../../src/base/secret.ts';
import { createLabClock } from '../../src/lab/clock.ts';
import { expiredBackups, InstanceBackups } from '../../src/lab/manager/instance-backups.ts';
import { FolderStore } from '../../src/lab/manager/store.ts';
import { isOpen, TaskQueue, type TaskStatus } from '../../src/lab/manager/task-queue.ts';
import { until } from './helpers.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

interface Settings {
  min_backup_count: number;
  retention_time: number;
}

/** The Backup Manager's own classes over a folder, with small content instead of a database. */
async function manager(settings: Settings, workers = 4) {
  const folder = await mkdtemp(join(tmpdir(), 'lab-test-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const clock = createLabClock();
  const log: string[] = [];
  const queue = new TaskQueue(workers, { now: clock.now, log: (line) => log.push(line) });
  onTestFinished(() => queue.close());
  const forgotten: string[] = [];
  let broken = false;
  const backups = new InstanceBackups<{ bytes: number }>(
    {
      name: 'fake',
      backupGuid: '8377f207-21b4-48fd-a75b-78c1bcdef8ca',
      take: () => ({
        content: Readable.from(broken ? failing() : [Buffer.alloc(2_000, 7)]),
        facts: async () => ({ bytes: 2_000 }),
      }),
      describe: (facts) => facts,
      kept: () => undefined,
      forgotten: async ({ backupId }) => void forgotten.push(backupId),
      isReady: () => true,
      retention: () => settings,
      life: () => new AbortController().signal,
    },
    { queue, store: new FolderStore(join(folder, 'store')), now: clock.now },
  );
  const key = new Secret('a key of sixteen letters');
  const take = async () => {
    const { backup, ended } = backups.trigger(key);
    await ended;
    return backup;
  };
  /** The ids of those that are kept, once the deletions are over; newest first. */
  const remaining = (count: number) =>
    until(`${count} backups are left`, async () => {
      const kept = backups.all.filter(({ task }) => task.status === 'done');
      return kept.length <= count && !backups.all.some(({ task }) => isOpen(task)) ? kept : undefined;
    });
  return {
    clock,
    backups,
    take,
    remaining,
    forgotten,
    log,
    breakIt: () => {
      broken = true;
    },
    files: () => readdir(join(folder, 'store')),
  };
}

// biome-ignore lint/correctness/useYield: a source that fails before its first byte
async function* failing(): AsyncGenerator<Buffer> {
  throw new Error('the database is gone');
}

test('of a thousand hourly backups the last seven days stay; the others are listed as deleted', async () => {
  const settings = { min_backup_count: 5, retention_time: 7 };
  const { clock, backups, take, remaining, forgotten, files } = await manager(settings);
  for (let at = 0; at < 1_000; at += 1) {
    clock.advance(HOUR);
    await take();
  }
  const kept = await remaining(168);
  expect(backups.all).toHaveLength(1_000);
  expect(kept.map(({ id }) => id)).toEqual(Array.from({ length: 168 }, (_, at) => 1_000 - at));
  expect(backups.all.filter(({ task }) => task.status === 'deleted')).toHaveLength(832);
  expect(new Set(forgotten).size).toBe(832);
  expect(new Set(await files())).toEqual(
    new Set(kept.flatMap(({ backupId }) => [`${backupId}.tgz.enc`, `${backupId}.json`])),
  );
  expect(backups.newestDone()?.id).toBe(1_000);
});

test('the configured number of backups stays, however old they are', async () => {
  const settings = { min_backup_count: 3, retention_time: 1 };
  const { clock, backups, take, remaining } = await manager(settings);
  for (let at = 0; at < 10; at += 1) await take();
  clock.advance(400 * DAY);
  backups.prune();
  expect((await remaining(3)).map(({ id }) => id)).toEqual([10, 9, 8]);
  settings.min_backup_count = 0;
  backups.prune();
  expect(await remaining(0)).toEqual([]);
});

test('failed backups protect nothing, and are never deleted', async () => {
  const settings = { min_backup_count: 2, retention_time: 1 };
  const { clock, backups, take, remaining, breakIt, log } = await manager(settings);
  for (let at = 0; at < 3; at += 1) await take();
  breakIt();
  expect((await take()).task.status).toBe('failed');
  clock.advance(2 * DAY);
  backups.prune();
  expect((await remaining(2)).map(({ id }) => id)).toEqual([3, 2]);
  expect(backups.all.map(({ task }) => task.status)).toEqual(['failed', 'done', 'done', 'deleted']);
  expect(log).toContainEqual(expect.stringContaining('the database is gone'));
});

test('only backups that are old and done and have enough newer done ones are deleted', () => {
  const Status = fc.constantFrom<TaskStatus>('queued', 'running', 'done', 'failed', 'deleted');
  const Ages = fc.array(fc.record({ days: fc.integer({ min: 0, max: 60 }), status: Status }), {
    maxLength: 40,
  });
  fc.assert(
    fc.property(Ages, fc.nat(10), fc.nat(60), (ages, min_backup_count, retention_time) => {
      const now = new Date(100 * DAY);
      const queue = new TaskQueue(0, { now: () => now, log: () => undefined });
      const backups = ages
        .toSorted((a, b) => b.days - a.days)
        .map(({ days, status }) => {
          const task = queue.newTask('backup');
          return { days, task: { ...task, status, triggeredAt: new Date(now.getTime() - days * DAY) } };
        });
      const gone = new Set(expiredBackups(backups, { min_backup_count, retention_time }, now));
      backups.forEach((backup, at) => {
        const newer = backups.slice(at + 1).filter(({ task }) => task.status === 'done').length;
        const expected =
          backup.task.status === 'done' && backup.days > retention_time && newer >= min_backup_count;
        expect(gone.has(backup)).toBe(expected);
      });
    }),
  );
});

test("backups of one moment have different ids, with the service's time", async () => {
  const { clock, take } = await manager({ min_backup_count: 5, retention_time: 30 });
  clock.advance(1_000 * DAY);
  const made = await Promise.all(Array.from({ length: 50 }, take));
  const stamps = made.map(({ backupId }) => Number(backupId.slice(37)));
  expect(new Set(stamps).size).toBe(50);
  expect(Math.min(...stamps)).toBeGreaterThan(Date.now() + 999 * DAY);
});

test('a task that must wait is overtaken, and starts when it may', async () => {
  const clock = createLabClock();
  const queue = new TaskQueue(1, { now: clock.now, log: () => undefined });
  let mayStart = false;
  const order: string[] = [];
  const job = (name: string) => ({
    work: async () => {
      order.push(name);
    },
  });
  const first = queue.newTask('first');
  const held = queue.submit(first, { ...job('first'), mayStart: () => mayStart });
  await queue.submit(queue.newTask('second'), job('second'));
  expect(first.status).toBe('queued');
  mayStart = true;
  queue.recheck();
  await held;
  expect(order).toEqual(['second', 'first']);
  expect(first.status).toBe('done');
});

test('no more tasks run at once than there are workers, even after their number changes', async () => {
  const clock = createLabClock();
  const queue = new TaskQueue(2, { now: clock.now, log: () => undefined });
  const gate = Promise.withResolvers<void>();
  let running = 0;
  const all = Array.from({ length: 6 }, (_, at) =>
    queue.submit(queue.newTask(`task ${at}`), {
      work: async () => {
        running += 1;
        await gate.promise;
      },
    }),
  );
  await new Promise(setImmediate);
  expect(running).toBe(2);
  queue.workers = 5;
  await new Promise(setImmediate);
  expect(running).toBe(5);
  gate.resolve();
  await Promise.all(all);
  expect(running).toBe(6);
});
