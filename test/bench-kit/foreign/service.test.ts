import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { until } from '../until.ts';
import { curl, KEY, openScene, TOKENS } from './curl.ts';

const REVISIONS = [61, 62] as const;
const ISO_UTC = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|\+00:00)$/;

test('nothing of the foreign service comes from the product', () => {
  const folder = import.meta.dirname;
  const files = readdirSync(folder).filter(
    (name) => name.endsWith('.ts') && name !== basename(import.meta.filename),
  );
  const imports = files.flatMap((name) =>
    [...readFileSync(join(folder, name), 'utf8').matchAll(/from '([^']+)'/g)].map(
      ([, target = '']) => target,
    ),
  );
  expect(imports.length).toBeGreaterThan(20);
  expect(imports.filter((target) => !/^(?:node:[\w/]+|\.{1,2}\/[\w-]+\.ts|vitest)$/.test(target))).toEqual(
    [],
  );
});

describe.each(REVISIONS)('backups in revision %i', (revision) => {
  test('a backup is started, listed newest first, requested and followed to its end', async (context) => {
    const { server, v1, ended } = await openScene(context, { revision });
    const begun = await curl('POST', `${v1()}/backups`);
    expect(begun.status).toBe(revision === 61 ? 202 : 200);
    const { id, message } = begun.json<{ id: number; message: string }>();
    expect(message).toContain('queued');
    const one = await ended(`${v1()}/backups/${id}`);
    expect(one).toMatchObject({ id, status: 'done', downloadable: true });
    const list = (await curl('GET', `${v1()}/backups`)).json<Record<string, unknown>[]>();
    expect(list.map((backup) => backup['id'])).toEqual([id, server.backups[1]?.id]);
    for (const [object, where] of [
      [list[0], 'list'],
      [one, 'one'],
    ] as const) {
      expect(object?.['size']).toBe(server.backups[0]?.size);
      expect(object?.['triggered_at']).toMatch(ISO_UTC);
      expect(object?.['finished_at']).toMatch(ISO_UTC);
      expect('started_at' in (object ?? {})).toBe(revision === 61);
      expect('backup_id' in (object ?? {})).toBe(revision === 61 || where === 'list');
    }
    expect(Date.parse(String(one['triggered_at']))).toBeLessThanOrEqual(
      Date.parse(String(one['finished_at'])),
    );
  });

  test('a second backup at the same time is a conflict in 61 and waits its turn in 62', async (context) => {
    const { server, v1 } = await openScene(context, { revision, taskMs: 60_000 });
    await curl('POST', `${v1()}/backups`);
    const again = await curl('POST', `${v1()}/backups`);
    expect(again.status).toBe(revision === 61 ? 409 : 200);
    expect(server.backups).toHaveLength(revision === 61 ? 2 : 3);
    if (revision === 61) expect(again.json()).toMatchObject({ error: 'backupInProgress' });
    expect(server.calls.map(({ did }) => did)).toEqual([true, revision === 62]);
  });

  test('an unknown id, instance or path is a 404 with a word and a sentence', async (context) => {
    const { server, v1 } = await openScene(context, { revision });
    const stranger = v1().replace(server.instances[0]?.guid ?? '', 'nobody');
    const calls = [
      ['GET', `${v1()}/backups/1`],
      ['GET', `${v1()}/backups/abc`],
      ['POST', `${v1()}/backups/1/restore`],
      ['GET', `${v1()}/restores/1`],
      ['GET', `${v1()}/nothing`],
      ['DELETE', `${v1()}/backups`],
      ['GET', stranger],
      ['GET', `${stranger}/backups`],
      ['POST', `${stranger}/backups`],
      [revision === 61 ? 'POST' : 'PATCH', `${v1()}/${revision === 61 ? 'pitr/restore' : 'broker/edit'}`],
    ] as const;
    for (const [method, url] of calls) {
      const { status, json } = await curl(method, url);
      expect([method, url, status]).toEqual([method, url, 404]);
      const { error, description } = json<{ error: string; description: string }>();
      expect(error).toMatch(/^[a-z]+(?:[A-Z][a-z]+)*$/);
      expect(description).not.toBe('');
    }
  });
});

describe('the configuration', () => {
  test('shows what was set, but never the key, and applies all of a change or nothing', async (context) => {
    const { server, v1 } = await openScene(context, { taste: 'plain' });
    const url = `${v1()}/backups-config`;
    const before = (await curl('GET', url)).json();
    expect(before).toEqual({
      min_backup_count: 3,
      retention_time: 7,
      min_encryption_key_length: 12,
      exclude_from_auto_backup: false,
      backup_type: 'continuous_archiving',
      cron: '0 3 * * *',
    });
    for (const wrong of [
      { encryption_key: 'too short' },
      { encryption_key: 'long enough for it', min_backup_count: -1 },
      { retention_time: 1.5 },
      { retention_time: '7' },
      { exclude_from_auto_backup: 'no' },
    ]) {
      const { status, json } = await curl('PATCH', url, { json: wrong });
      expect([wrong, status, json()]).toMatchObject([wrong, 422, { error: 'invalidParameters' }]);
    }
    const undeclared = await curl('PATCH', url, { args: ['-d', '{"min_backup_count":9}'] });
    expect(undeclared.status).toBe(422);
    expect((await curl('GET', url)).json()).toEqual(before);
    expect(server.keys).toEqual([KEY]);

    const change = { min_backup_count: 1, retention_time: 0, exclude_from_auto_backup: true };
    const changed = await curl('PATCH', url, {
      json: { ...change, encryption_key: 'another key of some length' },
    });
    expect([changed.status, changed.json()]).toEqual([200, { message: expect.any(String) }]);
    const after = await curl('GET', url);
    expect(after.json()).toMatchObject(change);
    expect(after.bytes.toString()).not.toContain('another key');
    expect(server.keys).toEqual([KEY, 'another key of some length']);
    expect(() => server.schedule()).toThrow('excluded');
    expect(JSON.stringify(server.calls)).not.toContain('another key');
  });

  test('backups beyond the minimum number and past their days are discarded', async (context) => {
    const { server, v1, ended } = await openScene(context);
    await curl('PATCH', `${v1()}/backups-config`, { json: { min_backup_count: 1, retention_time: 0 } });
    await server.schedule();
    const old = `${v1()}/backups/${server.backups[1]?.id}`;
    await until(() => server.backups[1]?.status === 'deleted');
    expect(await ended(old)).toMatchObject({ status: 'deleted', downloadable: false });
    expect((await curl('POST', `${old}/restore`)).status).toBe(404);
    expect(server.backups[0]).toMatchObject({ status: 'done' });
  });
});

describe('the instance', () => {
  test('has every field of the document in the plain variant, and fewer in the odd one', async (context) => {
    const plain = await openScene(context, { taste: 'plain' });
    expect((await curl('GET', plain.v1())).json()).toMatchObject({
      id: 4,
      name: 'orders',
      state: 'available',
      service_id: expect.any(String),
      plan_id: expect.any(String),
      created_at: expect.stringMatching(ISO_UTC),
      updated_at: expect.stringMatching(ISO_UTC),
      subtenant_name: 'prod',
      tenant_name: 'acme',
      available_updates: [{ name: 'acme-kv', type: 'release', version: '7.2.1' }],
      urls: [{ display_name: 'Dashboard', id: 'dashboard', link: plain.server.url }],
    });
    const odd = await openScene(context);
    const overview = (await curl('GET', odd.v1())).json<Record<string, unknown>>();
    expect(overview).toMatchObject({ tenant_id: null, subtenant_name: null, name: 'orders (eu)' });
    expect(overview).not.toHaveProperty('urls');
  });

  test.for(REVISIONS)(
    'is deploying for a while after restart, recreate and update: revision %i',
    async (revision, context) => {
      let gate = Promise.withResolvers<void>();
      const { server, v1 } = await openScene(context, {
        revision,
        trouble: () => ({ task: { until: gate.promise } }),
      });
      const state = async () => (await curl('GET', v1())).json<Record<string, unknown>>();
      const before = await state();
      const bodies: string[] = [];
      for (const action of ['restart', 'recreate', 'updates']) {
        const ask = action === 'updates' ? { json: { service_id: before['service_id'] } } : {};
        const { status, bytes } = await curl('PATCH', `${v1()}/${action}`, ask);
        expect([action, status]).toEqual([action, 202]);
        bodies.push(bytes.toString());
        const again = await curl('PATCH', `${v1()}/${action}`, ask);
        expect([action, again.status]).toEqual([action, revision === 61 ? 409 : 202]);
        expect((await state())['state']).toBe('deploying');
        gate.resolve();
        gate = Promise.withResolvers();
        await until(async () => (await state())['state'] === 'available');
      }
      expect(bodies).toEqual(['Accepted\n', '', '["deployment",4711,null]']);
      const after = await state();
      expect(after['available_updates']).toEqual([]);
      expect(Date.parse(String(after['updated_at']))).toBeGreaterThan(
        Date.parse(String(before['updated_at'])),
      );
      expect(server.instance('orders').deployments).toHaveLength(revision === 61 ? 3 : 6);
      expect((await curl('PATCH', `${v1()}/updates`, { json: { service_id: 'another' } })).status).toBe(404);
    },
  );

  test('measures this machine, and returns the requested number of latest points', async (context) => {
    const { v1 } = await openScene(context);
    const all = (await curl('GET', `${v1()}/metrics`)).json<string[]>();
    expect(
      all.filter((point) => !/^acme-kv_7\.4(?:\.\w+)+ -?\d+(?:\.\d+)?e[+-]\d+ \d{10}$/.test(point)),
    ).toEqual([]);
    const timeOf = (point: string) => Number(point.split(' ')[2]);
    expect(all.map(timeOf)).not.toEqual(all.map(timeOf).toSorted((a, b) => a - b));
    const few = (await curl('GET', `${v1()}/metrics?quantity=5`)).json<string[]>();
    expect(few.map(timeOf)).toEqual(Array(5).fill(timeOf(few[0] ?? '')));
    expect(timeOf(few[0] ?? '')).toBeGreaterThanOrEqual(Math.max(...all.map(timeOf)));
    for (const wrong of ['0', '-1', 'x', '1.5']) {
      expect((await curl('GET', `${v1()}/metrics?quantity=${wrong}`)).status).toBe(422);
    }
  });

  test('allows and forbids maintenance updates in revision 61', async (context) => {
    const { server, v1 } = await openScene(context, { revision: 61, taste: 'plain' });
    const setting = { allowed_update_time: { type: 'general', allowed: false } };
    const { status, json } = await curl('PATCH', `${v1()}/broker/edit`, { json: setting });
    expect([status, json()]).toEqual([200, { ...setting, id: server.instance('orders').guid }]);
    expect(server.instance('orders').guid).toMatch(/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
    expect(server.instance('orders').updateSetting).toEqual(setting.allowed_update_time);
    expect((await curl('PATCH', `${v1()}/broker/edit`, { json: { allowed: true } })).status).toBe(422);
  });
});

describe('credentials', () => {
  test('without a token, or with an unknown or expired one, get a 401; a read-only token cannot change anything', async (context) => {
    const { server, v1 } = await openScene(context);
    for (const token of [undefined, 'bearer nonsense', 'nonsense']) {
      const { status, json, headers } = await curl('GET', v1(), { token });
      expect([token, status]).toEqual([token, 401]);
      expect(json()).toMatchObject({ error: 'unauthenticated' });
      expect(headers['www-authenticate']).toEqual(['Bearer']);
    }
    expect((await curl('GET', v1(), { token: TOKENS.all })).status).toBe(200);
    expect((await curl('GET', v1(), { token: `Bearer ${TOKENS.read}` })).status).toBe(200);
    for (const [method, path] of [
      ['POST', '/backups'],
      ['PATCH', '/backups-config'],
      ['POST', '/disaster-recovery/prepare'],
      ['PATCH', '/restart'],
    ] as const) {
      const { status, json } = await curl(method, `${v1()}${path}`, { token: TOKENS.read });
      expect([path, status, json()]).toMatchObject([path, 403, { error: 'forbidden' }]);
    }
    expect(server.calls.filter(({ did }) => did)).toHaveLength(2);
    server.acceptOnly('tok-new');
    expect((await curl('GET', v1())).status).toBe(401);
    expect((await curl('GET', v1(), { token: 'tok-new' })).status).toBe(200);
  });
});
