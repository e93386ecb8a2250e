import { readFile, stat } from 'node:fs/promises';
import { Agent, request } from 'undici';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import * as z from 'zod';
import { Config } from '../../src/config/schema.ts';
import { Backup } from '../../src/service/schemas.ts';
import { startTestLab } from '../bench-kit/lab.ts';
import { ask, backUp, call, instanceOf, listBackups, until } from './helpers.ts';

describe('a lab with custom instances', () => {
  test('has each of them as requested, in the config too', async () => {
    const lab = await startTestLab({
      instances: [
        { name: 'orders', backupType: 'continuous_archiving', sampleApp: true, key: true },
        { name: 'stock', key: true },
        { name: 'orders-dr' },
        { name: 'elsewhere', serviceId: '11111111-2222-4333-8444-555555555555' },
      ],
    });
    try {
      const config = Config.parse(parse(lab.configYaml)).instances;
      expect(Object.entries(config).map(([name, { role }]) => [name, role])).toEqual([
        ['orders', 'source'],
        ['stock', 'source'],
        ['orders-dr', 'target'],
        ['elsewhere', 'target'],
      ]);
      const keys = new Set<string>();
      for (const { name, keyFile } of lab.instances) {
        expect(keyFile !== undefined, name).toBe(name === 'orders' || name === 'stock');
        if (keyFile === undefined) continue;
        expect(lab.configYaml).toContain(`lifeboat keys add ${name} --file ${keyFile}`);
        expect(((await stat(keyFile)).mode & 0o777).toString(8)).toBe('600');
        keys.add(await readFile(keyFile, 'utf8'));
        expect(await listBackups(lab, name)).toMatchObject([{ id: 1, status: 'done', downloadable: true }]);
      }
      expect(keys.size).toBe(2);
      expect(lab.keyFile).toBe(lab.instances[0]?.keyFile);
      const services = await Promise.all(
        lab.instances.map(async ({ name }) => (await ask(lab, 'GET', instanceOf(lab, name).v1)).json),
      );
      const [orders, , , elsewhere] = z.array(z.looseObject({ service_id: z.string() })).parse(services);
      expect(elsewhere?.service_id).toBe('11111111-2222-4333-8444-555555555555');
      expect(orders?.service_id).not.toBe(elsewhere?.service_id);
    } finally {
      await lab.close();
    }
  });

  test.each([
    ['the same name twice', [{ name: 'one' }, { name: 'one' }]],
    ['a name that leaves its folder', [{ name: '../one' }]],
    ['no instance', []],
  ])('refuses %s', async (_what, instances) => {
    await expect(startTestLab({ instances })).rejects.toMatchObject({ code: 'lab.instance' });
  });
});

test('revision 61 answers 409 while the same action is in progress; revision 62 queues another', async () => {
  const [old, present] = await Promise.all([startTestLab({ revision: 61 }), startTestLab()]);
  try {
    for (const lab of [old, present]) {
      const { v1 } = instanceOf(lab, 'orders');
      const backup = await backUp(lab);
      lab.fault({ path: '/backups/:id/restore', effect: { kind: 'task', outcome: 'queued' } });
      const restore = () => ask(lab, 'POST', `${v1}/backups/${backup.id}/restore`);
      const body = { backup_guid: backup.backup_id, encryption_key: await readFile(lab.keyFile, 'utf8') };
      const perform = () => ask(lab, 'POST', `${v1}/disaster-recovery/perform`, { body });
      const [first, second, third] = [await restore(), await restore(), await perform()];
      expect(first.status).toBe(lab === old ? 202 : 200);
      expect([second.status, third.status]).toEqual(lab === old ? [409, 409] : [200, 200]);
      // A foreign instance does not get in the way.
      const other = `${instanceOf(lab, 'orders-dr').v1}/disaster-recovery/perform`;
      const elsewhere = await ask(lab, 'POST', other, { body });
      expect(elsewhere.status).toBe(lab === old ? 202 : 200);
    }
  } finally {
    await Promise.all([old.close(), present.close()]);
  }
});

test('two hundred clients at once, reading and creating, get only correct answers', async () => {
  const lab = await startTestLab();
  const agent = new Agent({ connections: 200, pipelining: 1 });
  try {
    const authorization = `bearer ${await readFile(lab.tokenFile, 'utf8')}`;
    const { v1, v0 } = instanceOf(lab, 'orders-dr');
    const kinds = [
      { method: 'GET', path: v1, status: 200 },
      { method: 'GET', path: `${v1}/backups`, status: 200 },
      { method: 'POST', path: `${v1}/backups`, status: 200 },
      { method: 'GET', path: `${v1}/metrics?quantity=5`, status: 200 },
      { method: 'GET', path: `${v1}/backups/999`, status: 404 },
      { method: 'GET', path: `${v0}/backups`, status: 302 },
      { method: 'POST', path: `${v0}/backups`, status: 201 },
      { method: 'PATCH', path: `${v1}/backups-config`, status: 200, body: '{"retention_time":9}' },
    ] as const;
    const client = async (_: unknown, at: number) => {
      const strange: string[] = [];
      for (let turn = 0; turn < 5; turn += 1) {
        const kind = kinds[(at + turn) % kinds.length] ?? kinds[0];
        const { statusCode, body } = await request(`${lab.url}${kind.path}`, {
          method: kind.method,
          headers: { authorization, 'content-type': 'application/json' },
          body: 'body' in kind ? kind.body : null,
          dispatcher: agent,
        });
        const text = await body.text();
        if (statusCode !== kind.status) strange.push(`${kind.method} ${kind.path}: ${statusCode} ${text}`);
      }
      return strange;
    };
    const strange = await Promise.all(Array.from({ length: 200 }, client));
    expect(strange.flat()).toEqual([]);
    // 200 clients with 5 turns over 8 kinds: each kind came 125 times, so 250 backups were made, each with an
    // id.
    const listed = z.array(Backup).parse((await call(lab, 'GET', `${v1}/backups`)).json);
    expect(listed.map(({ id }) => id)).toEqual(Array.from({ length: 250 }, (_, at) => 250 - at));
    expect(new Set(listed.map(({ backup_id }) => backup_id)).size).toBe(250);
    await until('some of them are done', async () => {
      const done = (await listBackups(lab, 'orders-dr')).filter(({ status }) => status === 'done');
      return done.length >= 4 ? true : undefined;
    });
    expect(
      await listBackups(lab, 'orders-dr').then((all) => all.some(({ status }) => status === 'failed')),
    ).toBe(false);
  } finally {
    await agent.destroy();
    await lab.close();
  }
});
