import { randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { until } from '../until.ts';
import { curl, KEY, openScene } from './curl.ts';

const REVISIONS = [61, 62] as const;

describe.each(REVISIONS)('a restore in revision %i', (revision) => {
  test('restores exactly the bytes of its backup', async (context) => {
    const { server, v1, ended } = await openScene(context, { revision });
    const orders = server.instance('orders');
    const then = await orders.data();
    await orders.write(randomBytes(1000));
    const [backup] = orders.backups;
    const begun = await curl('POST', `${v1()}/backups/${backup?.id}/restore`);
    expect(begun.status).toBe(revision === 61 ? 202 : 200);
    const { id } = begun.json<{ id: number }>();
    const restore = await ended(`${v1()}/restores/${id}`);
    expect(restore).toMatchObject({ id, status: 'done', backup_id: backup?.id });
    const { restored_from: from } = restore['metadata'] as { restored_from: string };
    expect(Date.parse(from)).toBe(backup?.triggered.getTime());
    expect(await orders.data()).toEqual(then);
    expect((await curl('GET', `${v1()}/restores`)).json()).toEqual([restore]);
  });

  test('at the same time as another is a conflict in 61 and waits its turn in 62', async (context) => {
    const gate = Promise.withResolvers<void>();
    const { server, v1 } = await openScene(context, {
      revision,
      trouble: () => ({ task: { until: gate.promise } }),
    });
    const url = `${v1()}/backups/${server.backups[0]?.id}/restore`;
    await curl('POST', url);
    await until(() => server.instances[0]?.restores[0]?.status === 'running');
    const asked = `${v1()}/restores/${server.instances[0]?.restores[0]?.id}`;
    expect((await curl('GET', asked)).status).toBe(revision === 61 ? 202 : 200);
    expect((await curl('POST', url)).status).toBe(revision === 61 ? 409 : 200);
    gate.resolve();
    await until(() => server.instances[0]?.restores.every(({ status }) => status === 'done') ?? false);
    expect((await curl('GET', asked)).status).toBe(200);
  });
});

describe.each(REVISIONS)('disaster recovery in revision %i', (revision) => {
  const accepted = revision === 61 ? 202 : 200;

  test('restores the newest backup of one instance into another', async (context) => {
    const { server, v1, ended } = await openScene(context, { revision });
    const [source, target] = [server.instance('orders'), server.instance('orders-dr')];
    await source.write(randomBytes(200_000));
    const { id } = await source.schedule();
    await ended(`${v1()}/backups/${id}`);
    const prepared = await curl('POST', `${v1()}/disaster-recovery/prepare`, { json: {} });
    expect(prepared.status).toBe(accepted);
    const body = { ...prepared.json<{ backup_guid: string }>(), encryption_key: KEY };
    expect(body.backup_guid).toBe(source.backupGuid);
    const performed = await curl('POST', `${v1('orders-dr')}/disaster-recovery/perform`, { json: body });
    expect(performed.status).toBe(accepted);
    const { restore_id: restore } = performed.json<{ restore_id: number }>();
    expect(await ended(`${v1('orders-dr')}/restores/${restore}`)).toMatchObject({
      id: restore,
      status: 'done',
    });
    expect(await target.data()).toEqual(await source.data());
    expect(source.restores).toEqual([]);
    expect(server.calls.at(-1)?.instance).toBe('orders-dr');
  });

  test('restores the backup that its backup_id names, as a fork does', async (context) => {
    const { server, v1, ended } = await openScene(context, { revision });
    const [source, target] = [server.instance('orders'), server.instance('orders-dr')];
    const then = await source.data();
    await source.write(randomBytes(10));
    await ended(`${v1()}/backups/${(await source.schedule()).id}`);
    const list = (await curl('GET', `${v1()}/backups`)).json<{ backup_id: string }[]>();
    const json = { backup_guid: list[1]?.backup_id, encryption_key: KEY };
    const reply = await curl('POST', `${v1('orders-dr')}/disaster-recovery/perform`, { json });
    await ended(`${v1('orders-dr')}/restores/${reply.json<{ restore_id: number }>().restore_id}`);
    expect(await target.data()).toEqual(then);
  });

  test('fails with another key and leaves the target unchanged', async (context) => {
    const { server, v1, ended } = await openScene(context, { revision });
    const target = server.instance('orders-dr');
    const before = await target.data();
    const json = { backup_guid: server.instance('orders').backupGuid, encryption_key: 'some other long key' };
    const reply = await curl('POST', `${v1('orders-dr')}/disaster-recovery/perform`, { json });
    expect(reply.status).toBe(accepted);
    const { restore_id: id } = reply.json<{ restore_id: number }>();
    expect(await ended(`${v1('orders-dr')}/restores/${id}`)).toMatchObject({ status: 'failed' });
    expect(await target.data()).toEqual(before);
  });

  test('needs a known guid and a key', async (context) => {
    const { server, v1 } = await openScene(context, { revision });
    const url = `${v1('orders-dr')}/disaster-recovery/perform`;
    const guid = server.instance('orders').backupGuid;
    const status = async (json: unknown) => (await curl('POST', url, { json })).status;
    expect(await status({ backup_guid: 'unknown', encryption_key: KEY })).toBe(404);
    // A fresh instance has no backup that could be recovered.
    expect(await status({ backup_guid: server.instance('orders-dr').backupGuid, encryption_key: KEY })).toBe(
      404,
    );
    expect(await status({ backup_guid: guid })).toBe(422);
    expect(await status({ encryption_key: KEY })).toBe(422);
    expect(server.instance('orders-dr').restores).toEqual([]);
  });

  test('prepare with a key changes the key, and without one it changes nothing', async (context) => {
    const { server, v1 } = await openScene(context, { revision });
    const url = `${v1()}/disaster-recovery/prepare`;
    expect((await curl('POST', url)).json()).toEqual({ backup_guid: server.instance('orders').backupGuid });
    expect((await curl('POST', url, { json: { encryption_key: 'short' } })).status).toBe(422);
    expect(server.keys).toEqual([KEY]);
    const json = { encryption_key: 'the key of a prepare' };
    expect((await curl('POST', url, { json })).bytes.toString()).not.toContain('prepare');
    expect(server.keys).toEqual([KEY, 'the key of a prepare']);
  });
});

describe('point in time', () => {
  test('restores the data of a time between two changes', async (context) => {
    const { server, v1, ended } = await openScene(context);
    const orders = server.instance('orders');
    await orders.write(Buffer.from('good'));
    const good = new Date();
    await until(() => Date.now() > good.getTime() + 1);
    await orders.write(Buffer.from('bad'));
    const range = await curl('GET', `${v1()}/pitr`);
    expect(range.status).toBe(202);
    const { start_time: start, end_time: end } = range.json<{ start_time: string; end_time: string }>();
    expect([start.slice(-6), end.slice(-1)]).toEqual(['+00:00', 'Z']);
    expect(Date.parse(start)).toBeLessThanOrEqual(good.getTime());
    expect(Date.parse(end)).toBeGreaterThan(good.getTime());

    const json = { target_time: good.toISOString() };
    const begun = await curl('POST', `${v1()}/pitr/restore`, { json });
    expect([begun.status, begun.json()]).toEqual([202, { status: 'queued' }]);
    const listed = (await curl('GET', `${v1()}/restores`)).json<{ id: number }[]>();
    expect(listed).toHaveLength(1);
    const restore = await ended(`${v1()}/restores/${listed[0]?.id}`);
    expect(restore).toMatchObject({ status: 'done', backup_id: orders.backups[0]?.id });
    const { restored_from: from } = restore['metadata'] as { restored_from: string };
    expect(Date.parse(from)).toBe(good.getTime());
    expect((await orders.data()).toString()).toBe('good');
  });

  test('is refused outside the range, without a zone, and where nothing is archived', async (context) => {
    const { server, v1 } = await openScene(context);
    const status = async (target_time: unknown, name?: string) =>
      (await curl('POST', `${v1(name)}/pitr/restore`, { json: { target_time } })).status;
    expect(await status('2001-01-01T00:00:00Z')).toBe(422);
    expect(await status(new Date(Date.now() + 60_000).toISOString())).toBe(422);
    expect(await status(new Date().toISOString().replace('Z', ''))).toBe(422);
    expect(await status(undefined)).toBe(422);
    expect(await status(new Date().toISOString(), 'orders-dr')).toBe(404);
    expect((await curl('GET', `${v1('orders-dr')}/pitr`)).status).toBe(404);
    expect(server.instances.flatMap(({ restores }) => restores)).toEqual([]);
  });

  test('can only be read in revision 61', async (context) => {
    const { v1 } = await openScene(context, { revision: 61 });
    expect((await curl('GET', `${v1()}/pitr`)).status).toBe(200);
    const json = { target_time: new Date().toISOString() };
    expect((await curl('POST', `${v1()}/pitr/restore`, { json })).status).toBe(404);
  });
});

test('ids of restores are neither increasing nor consecutive', async (context) => {
  const { server, v1 } = await openScene(context, { taskMs: 0 });
  for (let i = 0; i < 3; i += 1) await curl('POST', `${v1()}/backups/${server.backups[0]?.id}/restore`);
  const ids = (await curl('GET', `${v1()}/restores`)).json<{ id: number }[]>().map(({ id }) => id);
  expect(new Set(ids).size).toBe(3);
  expect(ids).not.toEqual(ids.toSorted((a, b) => a - b));
});

test('a service with another clock reports every time by that clock', async (context) => {
  const aheadMs = 600_000;
  const { v1, ended } = await openScene(context, { aheadMs });
  const { id } = (await curl('POST', `${v1()}/backups`)).json<{ id: number }>();
  const backup = await ended(`${v1()}/backups/${id}`);
  const { headers } = await curl('GET', `${v1()}/pitr`);
  const { end_time: end } = (await curl('GET', `${v1()}/pitr`)).json<{ end_time: string }>();
  for (const time of [backup['triggered_at'], backup['finished_at'], headers['date']?.[0], end]) {
    expect(Math.round((Date.parse(String(time)) - Date.now()) / aheadMs)).toBe(1);
  }
});
