import { describe, expect, test } from 'vitest';
import type { Progress, SentTask } from '../../src/activities/activity.ts';
import { beyondSent, isOpen, lastLook, withUnread } from '../../src/activities/beside.ts';
import { recordRecovery } from '../../src/activities/records.ts';
import { waitForRestore } from '../../src/activities/wait-for-task.ts';
import { Backup, Restore } from '../../src/service/schemas.ts';
import { fakeService } from './fake-service.ts';
import { contextOf } from './world.ts';

const at = (seconds: number) => new Date(Date.parse('2026-03-01T03:00:00Z') + seconds * 1_000).toISOString();
const restore = (id: number, status: string, seconds: number, backup_id = 3) =>
  Restore.parse({ id, status, backup_id, triggered_at: at(seconds) });

const sent: readonly SentTask[] = [
  { what: 'restore', baseline: { tasks: [[1, Date.parse(at(-900))]], underWay: [], skew: null }, became: 3 },
  { what: 'restore', baseline: { tasks: [], underWay: [], skew: null }, became: 5 },
];

describe('tasks in a list that this run did not send', () => {
  const rows = [1, 2, 3, 4, 5].map((id) => restore(id, 'done', id * 10));

  test('are all that were not there before the first send, except ours', () => {
    expect(beyondSent(rows, 5, { what: 'restore', sent }).map(({ id }) => id)).toEqual([2, 4]);
  });

  test('do not include older rows that a list of the newest shows again', () => {
    const old = restore(7, 'done', -5_000);
    expect(beyondSent([...rows.slice(2, 3), old], 5, { what: 'restore', sent })).toEqual([]);
  });

  test('are those that came since, if no send is on record, or only one of the other instance', () => {
    expect(beyondSent(rows, 3, { what: 'restore' }).map(({ id }) => id)).toEqual([4, 5]);
    const elsewhere = sent.map((one) => ({ ...one, on: 'target' as const }));
    expect(beyondSent(rows, 3, { what: 'restore', sent: elsewhere }).map(({ id }) => id)).toEqual([4, 5]);
  });
});

describe('odd rows of a list', () => {
  const rows = [restore(3, 'done', 30)];
  const odd = (id: number | undefined, seconds?: number) => ({
    id,
    atMs: seconds === undefined ? undefined : Date.parse(at(seconds)),
    field: 'status',
  });
  const beyond = (...unread: ReturnType<typeof odd>[]) =>
    beyondSent(withUnread(rows, unread), 3, { what: 'restore', sent }).map(({ id, status }) => [id, status]);

  test('are counted as not sent by us if their id is new, whatever else cannot be read', () => {
    expect(beyond(odd(4, 40), odd(6))).toEqual([
      [4, 'unreadable'],
      [6, 'unreadable'],
    ]);
  });

  test('are not counted if they were there before, are ours, or have no readable id', () => {
    expect(beyond(odd(1), odd(5, 50), odd(undefined, 60), odd(8, -5_000))).toEqual([]);
  });

  test('count as still running, so a restore is waited for', () => {
    const [row] = withUnread(rows, [odd(4, 40)]).slice(1);
    expect(row !== undefined && isOpen(row)).toBe(true);
  });
});

function scene() {
  const service = fakeService();
  const seen: string[] = [];
  const report = (progress: Progress) => {
    if (progress.kind === 'task') seen.push(progress.status);
  };
  return { service, seen, context: contextOf(() => new Date(at(100)), { report, sent: sent.slice(0, 1) }) };
}

test('a restore is over only once a restore that was not sent is over too', async () => {
  const { service, seen, context } = scene();
  service.restores.push(restore(3, 'done', 1), restore(4, 'queued', 1));
  let lists = 0;
  service.beforeRead = () => {
    if (service.calls.at(-1) === 'restores') lists += 1;
    if (lists === 2) service.restores.splice(1, 1, restore(4, 'done', 1));
  };
  const result = await waitForRestore(service.deps).run({ id: 3 }, context);
  expect(result).toMatchObject({
    ok: true,
    output: { id: 3, beside: [{ id: 4, status: 'done', backup: 3 }] },
  });
  expect(seen[0]).toBe('done, and restore 4, which was not sent, is queued');
});

describe('the last look before a run closes', () => {
  const record = { runbook: 'restore-backup', restore: { id: 3 } };

  test('waits for a restore that was sent late, and reports it', async () => {
    const { service, seen, context } = scene();
    service.restores.push(restore(3, 'done', 1), restore(4, 'running', 60));
    service.beforeRead = () => {
      if (service.calls.length === 1) service.restores.splice(1, 1, restore(4, 'done', 60));
    };
    const result = await recordRecovery(service.deps).run({ record }, context);
    expect(result).toMatchObject({ ok: true, output: { recorded: true, beside: [{ id: 4 }] } });
    expect(seen).toEqual(['restore 4 is running', 'looked at']);
  });

  test('is not made at the source of a recovery, since nothing was restored there', async () => {
    const { service, context } = scene();
    await recordRecovery(service.deps).run({ record: { ...record, source: 'orders' } }, context);
    expect(service.calls).toEqual([]);
  });

  test('does not block on an unreadable list, and says so', async () => {
    const { service, context } = scene();
    service.beforeRead = () => {
      throw new Error('out of order');
    };
    const result = await recordRecovery(service.deps).run({ record }, context);
    expect(result).toMatchObject({ ok: true, output: { recorded: true, unlooked: expect.any(String) } });
  });

  test('reports backups that were not sent, and waits for none', async () => {
    const { service, context } = scene();
    service.backups.push(...[6, 7].map((id) => Backup.parse({ id, status: 'queued', triggered_at: at(id) })));
    expect(await lastLook(service.deps, { what: 'backup', id: 6 }, context)).toMatchObject({
      beside: [{ id: 7, status: 'queued' }],
    });
  });
});
