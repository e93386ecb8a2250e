import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import * as z from 'zod';
import type { Lab } from '../../src/lab/lab.ts';
import { sampleDigest } from '../../src/lab/sample-data.ts';
import { ORDERS, startTestLab } from '../bench-kit/lab.ts';
import { ask, backUp, call, instanceOf, listBackups, until } from './helpers.ts';

const Overview = z.looseObject({
  state: z.string(),
  service_id: z.string(),
  updated_at: z.string(),
  available_updates: z.array(z.object({ name: z.string(), type: z.string(), version: z.string() })),
});
const LabFacts = z.object({
  instances: z.array(z.looseObject({ name: z.string(), pid: z.int().optional() })),
});

describe.each([61, 62] as const)('revision %i', (revision) => {
  let lab: Lab;
  beforeAll(async () => {
    lab = await startTestLab({ revision, instances: ORDERS });
  });
  afterAll(() => lab.close());

  const overview = async () => Overview.parse((await ask(lab, 'GET', instanceOf(lab, 'orders').v1)).json);
  const available = () =>
    until('the instance is available', async () => {
      const seen = await overview();
      return seen.state === 'available' ? seen : undefined;
    });
  const pid = async () => {
    const { instances } = LabFacts.parse((await call(lab, 'GET', '/lab')).json);
    return instances.find(({ name }) => name === 'orders')?.pid;
  };

  test.each(['restart', 'recreate'])('a %s starts a new process and keeps the data', async (action) => {
    const { v1, query } = instanceOf(lab, 'orders');
    const [before, rows, { updated_at }] = [await pid(), await sampleDigest(query), await overview()];
    expect(before).toBeGreaterThan(0);
    // Both at once: what is under way can be over by the time of a next request.
    const both = await Promise.all([1, 2].map(() => ask(lab, 'PATCH', `${v1}/${action}`)));
    expect(both.map(({ status }) => status).toSorted()).toEqual([202, revision === 61 ? 409 : 202]);
    const after = await available();
    expect(Date.parse(after.updated_at)).toBeGreaterThan(Date.parse(updated_at));
    expect(await pid()).not.toBe(before);
    expect(await pid()).toBeGreaterThan(0);
    expect(await sampleDigest(query)).toEqual(rows);
    expect(lab.calls().at(-1)).toMatchObject({ endpoint: `PATCH /${action}`, detail: { action } });
  });

  test('an update of the right service applies what is pending, one of another service does nothing', async () => {
    const { v1 } = instanceOf(lab, 'orders');
    const before = await overview();
    expect(before.available_updates.length).toBeGreaterThan(0);
    for (const body of [{}, { service_id: 'another' }, { service_id: 7 }]) {
      expect((await ask(lab, 'PATCH', `${v1}/updates`, { body })).status).toBe(422);
    }
    expect((await overview()).state).toBe('available');
    const started = await ask(lab, 'PATCH', `${v1}/updates`, { body: { service_id: before.service_id } });
    expect(started.status).toBe(202);
    expect((await overview()).state).toBe('deploying');
    expect((await available()).available_updates).toEqual([]);
  });

  test('metrics are those of this machine, and quantity returns the latest', async () => {
    const { v1 } = instanceOf(lab, 'orders');
    const list = async (query = '') =>
      z.array(z.string()).parse((await ask(lab, 'GET', `${v1}/metrics${query}`)).json);
    await until('there is a sample', async () => ((await list()).length > 0 ? true : undefined));
    const all = await list();
    const values = new Map(all.map((line) => [line.split(' ')[0], Number(line.split(' ')[1])]));
    const value = (path: string) => values.get(`postgresql.0.${path}`) ?? Number.NaN;
    expect(value('system.memory.total')).toBeGreaterThan(100_000_000);
    expect(value('system.disk.persistent.total')).toBeGreaterThan(value('system.disk.persistent.used'));
    expect(value('parachute.disk.persistent.used_threshold')).toBe(80);
    expect(value('parachute.activated')).toBeOneOf([0, 1]);
    expect(value('system.cpu0.user') + value('system.cpu0.system') + value('system.cpu0.idle')).toBeCloseTo(
      100,
      0,
    );
    expect(all.every((line) => !line.includes('NaN'))).toBe(true);
    expect(await list('?quantity=3')).toHaveLength(3);
    expect(await list('?quantity=1000000')).toEqual(expect.arrayContaining(all));
    for (const wrong of ['0', '-1', '1.5', 'x', '']) {
      expect((await ask(lab, 'GET', `${v1}/metrics?quantity=${wrong}`)).status, wrong).toBe(422);
    }
  });

  test('the update setting is stored in revision 61, and unknown in 62', async () => {
    const path = `${instanceOf(lab, 'orders').v1}/broker/edit`;
    const body = { allowed_update_time: { type: 'general', allowed: false } };
    if (revision === 62) return expect((await call(lab, 'PATCH', path, { body })).status).toBe(404);
    const { json } = await ask(lab, 'PATCH', path, { body });
    expect(json).toEqual({ ...body, id: instanceOf(lab, 'orders').guid });
    for (const wrong of [{}, { allowed_update_time: { type: 'general', allowed: 'no' } }]) {
      expect((await ask(lab, 'PATCH', path, { body: wrong })).status).toBe(422);
    }
  });
});

test('maintenance updates the instances that allow it, when the clock reaches it', async () => {
  const instances = [{ name: 'willing' }, { name: 'unwilling' }];
  const lab = await startTestLab({ revision: 61, instances, maintenanceEvery: 7 * 86_400 });
  try {
    const updates = async (name: string) =>
      Overview.parse((await call(lab, 'GET', instanceOf(lab, name).v1)).json).available_updates.length;
    const { v1 } = instanceOf(lab, 'unwilling');
    const body = { allowed_update_time: { type: 'general', allowed: false } };
    await call(lab, 'PATCH', `${v1}/broker/edit`, { body });
    lab.clock.advance(6 * 86_400_000);
    expect(await updates('willing')).toBe(2);
    lab.clock.advance(86_400_000);
    await until('it is updated', async () => ((await updates('willing')) === 0 ? true : undefined));
    expect(await updates('unwilling')).toBe(2);
    await call(lab, 'PATCH', `${v1}/broker/edit`, {
      body: { allowed_update_time: { type: 'general', allowed: true } },
    });
    lab.clock.advance(7 * 86_400_000);
    await until('it is updated too', async () => ((await updates('unwilling')) === 0 ? true : undefined));
  } finally {
    await lab.close();
  }
});

test('scheduled backups follow the clock, and retention deletes old ones with their files', async () => {
  const instances = [
    { name: 'orders', key: true, backupType: 'continuous_archiving' as const },
    { name: 'left-out' },
  ];
  const lab = await startTestLab({ instances, backupEvery: 86_400 });
  try {
    const config = (name: string, body: unknown) =>
      ask(lab, 'PATCH', `${instanceOf(lab, name).v1}/backups-config`, { body });
    await config('orders', { min_backup_count: 2, retention_time: 10 });
    await config('left-out', { exclude_from_auto_backup: true });
    const done = async () => (await listBackups(lab)).filter(({ status }) => status === 'done').length;
    for (let day = 2; day <= 4; day += 1) {
      lab.clock.advance(86_400_000);
      await until(`${day} backups are done`, async () => ((await done()) === day ? true : undefined));
    }
    const first = (await listBackups(lab)).at(-1);
    lab.clock.advance(30 * 86_400_000);
    await until('the old ones are deleted', async () => {
      const statuses = (await listBackups(lab)).map(({ status }) => status);
      const count = (wanted: string) => statuses.filter((status) => status === wanted).length;
      return count('deleted') === 3 && count('done') === 2 ? true : undefined;
    });
    const listed = await listBackups(lab);
    expect(listed.map(({ status }) => status)).toEqual(['done', 'done', 'deleted', 'deleted', 'deleted']);
    expect(listed.at(-1)).toMatchObject({ id: 1, downloadable: false });
    expect(listed.at(-1)?.backup_id).toBe(first?.backup_id);
    const { v0 } = instanceOf(lab, 'orders');
    expect((await call(lab, 'GET', `${v0}/backups/1/download`)).status).toBe(412);
    const { v1 } = instanceOf(lab, 'orders');
    expect((await call(lab, 'POST', `${v1}/backups/1/restore`)).status).toBe(404);
    const ofOne = { backup_guid: listed.at(-1)?.backup_id, encryption_key: 'a key of somebody' };
    const perform = `${instanceOf(lab, 'left-out').v1}/disaster-recovery/perform`;
    expect((await call(lab, 'POST', perform, { body: ofOne })).status).toBe(404);
    expect(await listBackups(lab, 'left-out')).toEqual([]);
    expect(await backUp(lab)).toMatchObject({ id: 6 });
  } finally {
    await lab.close();
  }
});
