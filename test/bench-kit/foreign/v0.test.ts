import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { until } from '../until.ts';
import { curl, KEY, openScene, type Scene, TOKENS } from './curl.ts';
import { unpack } from './pack.ts';

interface Task {
  readonly id: number;
  readonly task_id: number;
  readonly status: string;
}

interface Listing {
  readonly id: number;
  readonly instance_id: string;
  readonly backups: readonly {
    readonly id: number;
    readonly instance_id: number;
    readonly backup_agent_task: Task;
  }[];
  readonly restores: readonly { readonly id: number; readonly backup_agent_tasks: readonly Task[] }[];
}

/** curl's arguments for a session that lasts, as the examples of V0 have them. */
function sessionOf({ scratch }: Scene): { readonly args: readonly string[] } {
  return { args: ['--location', '--cookie', scratch('jar'), '--cookie-jar', scratch('jar')] };
}

describe('V0 alone', () => {
  test('lists, creates and restores with internal ids', async (context) => {
    const scene = await openScene(context, { revision: 'v0' });
    const { server } = scene;
    const session = sessionOf(scene);
    const orders = server.instance('orders');
    const list = async () => (await curl('GET', `${server.url}/backups`, session)).json<Listing>();
    const first = await list();
    expect(first).toMatchObject({ id: orders.number, instance_id: orders.guid, restores: [] });
    const [old] = first.backups;
    expect(old).toMatchObject({
      instance_id: first.id,
      backup_agent_task: { task_id: old?.id, status: 'done' },
    });
    expect(old?.backup_agent_task.id).not.toBe(old?.id);

    const then = await orders.data();
    await orders.write(randomBytes(10));
    const created = await curl('POST', `${server.url}/backups`, session);
    expect(created.status).toBe(201);
    const { id } = created.json<{ id: number }>();
    await until(async () => (await list()).backups[0]?.backup_agent_task.status === 'done');
    expect((await list()).backups.map((backup) => backup.id)).toEqual([id, old?.id]);

    const json = { instance_id: first.id, backup_id: old?.id };
    const restored = await curl('POST', `${server.url}/backups/restore`, { ...session, json });
    expect(restored.status).toBe(200);
    const { restore_id: restore } = restored.json<{ restore_id: number }>();
    await until(async () =>
      Boolean((await list()).restores[0]?.backup_agent_tasks.every(({ status }) => status === 'done')),
    );
    expect((await list()).restores[0]).toMatchObject({
      id: restore,
      backup_agent_tasks: [{ task_id: restore }, {}],
    });
    expect(await orders.data()).toEqual(then);
  });

  test('one task of a restore may be done before another one', async (context) => {
    const gate = Promise.withResolvers<void>();
    const scene = await openScene(context, {
      revision: 'v0',
      trouble: () => ({ task: { until: gate.promise } }),
    });
    const { server } = scene;
    const session = sessionOf(scene);
    const { id, backups } = (await curl('GET', `${server.url}/backups`, session)).json<Listing>();
    const json = { instance_id: id, backup_id: backups[0]?.id };
    await curl('POST', `${server.url}/backups/restore`, { ...session, json });
    await until(() => server.instances[0]?.restores[0]?.status === 'running');
    const { restores } = (await curl('GET', `${server.url}/backups`, session)).json<Listing>();
    expect(restores[0]?.backup_agent_tasks.map(({ status }) => status)).toEqual(['done', 'running']);
    gate.resolve();
  });

  test('ids that do not match get a 412 with a message, and nothing is done', async (context) => {
    const scene = await openScene(context, { revision: 'v0' });
    const { server } = scene;
    const session = sessionOf(scene);
    const { id, backups } = (await curl('GET', `${server.url}/backups`, session)).json<Listing>();
    const backup = backups[0]?.id;
    for (const json of [
      { instance_id: id },
      { instance_id: id + 1, backup_id: backup },
      { backup_id: backup },
    ]) {
      const reply = await curl('POST', `${server.url}/backups/restore`, { ...session, json });
      expect([reply.status, reply.json()]).toEqual([412, { msg: expect.any(String) }]);
    }
    const stranger = server.url.replace(/[^/]+$/, 'nobody');
    const reply = await curl('GET', `${stranger}/backups`, session);
    expect([reply.status, reply.json()]).toEqual([412, { msg: expect.any(String) }]);
    expect(server.instances.flatMap(({ restores }) => restores)).toEqual([]);
  });

  test('there is no V1: its paths are pages, whatever the token', async (context) => {
    const { v1 } = await openScene(context, { revision: 'v0' });
    for (const url of [v1(), `${v1()}/backups`, v1().replace(/\/v1.*/, '/')]) {
      const { status, headers, bytes } = await curl('GET', url, { token: undefined });
      expect([status, headers['content-type']]).toEqual([404, ['text/html']]);
      expect(bytes.toString()).toContain('<!doctype html>');
    }
  });

  test('without a session nothing is done: the answer redirects to the same place with one', async (context) => {
    const scene = await openScene(context, { revision: 'v0' });
    const { server } = scene;
    const path = new URL(`${server.url}/backups`).pathname;
    const lone = await curl('POST', `${server.url}/backups`);
    expect([lone.status, lone.headers['location']]).toEqual([307, [path]]);
    expect(server.backups).toHaveLength(1);
    expect((await curl('GET', `${server.url}/backups`)).status).toBe(302);

    const session = sessionOf(scene);
    expect((await curl('GET', `${server.url}/backups`, session)).status).toBe(200);
    const led = server.calls.length;
    expect((await curl('GET', `${server.url}/backups`, session)).status).toBe(200);
    expect(server.calls).toHaveLength(led + 1);
    server.endSessions();
    expect((await curl('POST', `${server.url}/backups`, session)).status).toBe(201);
    expect(server.calls.slice(led + 1).map(({ answered }) => answered)).toEqual([307, 201]);
    const refused = await curl('GET', `${server.url}/backups`, { ...session, token: 'unknown' });
    expect([refused.status, refused.json()]).toEqual([401, { msg: expect.any(String) }]);
  });
});

describe('a download', () => {
  const ways = [
    { revision: 61, base: 'v1', method: 'GET' },
    { revision: 61, base: 'v0', method: 'POST' },
    { revision: 62, base: 'v0', method: 'GET' },
    { revision: 'v0', base: 'v0', method: 'POST' },
  ] as const;

  test.for(ways)(
    'gives the bytes, by $method on the $base base in revision $revision',
    async (way, context) => {
      const { revision, base, method } = way;
      const scene = await openScene(context, { revision });
      const { server, v1, scratch } = scene;
      const session = sessionOf(scene);
      const url = (id: unknown) => `${base === 'v1' ? v1() : server.url}/backups/${id}/download`;
      const [backup] = server.backups;
      const { status, bytes } = await curl(method, url(backup?.id), session);
      expect(status).toBe(200);
      expect(bytes).toHaveLength(backup?.size ?? -1);
      await writeFile(scratch('taken'), bytes);
      await unpack({ path: scratch('taken'), key: KEY, profile: 'md5' }, scratch('opened'));
      await expect(
        unpack({ path: scratch('taken'), key: 'no key at all', profile: 'md5' }, scratch('not-opened')),
      ).rejects.toThrow(/openssl|tar/);

      const unknown = await curl(method, url(1), session);
      const body = base === 'v1' ? { message: expect.any(String), status: 412 } : { msg: expect.any(String) };
      expect([unknown.status, unknown.json()]).toEqual([412, body]);
      const other = await curl(method === 'GET' ? 'POST' : 'GET', url(backup?.id), session);
      expect(other.status).toBe(404);
      const v1Download = await curl('GET', `${v1()}/backups/${backup?.id}/download`);
      expect(v1Download.status).toBe(revision === 61 ? 200 : 404);
    },
  );

  test('is possible with both methods in the plain variant, and with one when that is requested', async (context) => {
    for (const [downloadBy, expected] of [
      [undefined, [200, 200]],
      ['POST', [404, 200]],
    ] as const) {
      const scene = await openScene(context, { taste: 'plain', ...(downloadBy && { downloadBy }) });
      const url = `${scene.server.url}/backups/${scene.server.backups[0]?.id}/download`;
      const session = sessionOf(scene);
      const got = [
        await curl('GET', url, session),
        await curl('POST', url, { ...session, token: TOKENS.read }),
      ];
      expect(got.map(({ status }) => status)).toEqual(expected);
    }
  });

  test('is offered only if the user set its key; if the service says so, only for the newest backup', async (context) => {
    const scene = await openScene(context, { oldDownloads: false });
    const { server, v1, ended } = scene;
    const session = sessionOf(scene);
    const { id } = await server.instance('orders-dr').createBackup();
    const withoutKey = await ended(`${v1('orders-dr')}/backups/${id}`);
    expect(withoutKey).toMatchObject({ status: 'done', downloadable: false });
    const url = `${server.urlOf('orders-dr')}/backups/${id}/download`;
    expect((await curl('GET', url, session)).status).toBe(412);

    const old = server.backups[0]?.id;
    const isOffered = async () => (await ended(`${v1()}/backups/${old}`))['downloadable'];
    expect(await isOffered()).toBe(true);
    await curl('PATCH', `${v1()}/backups-config`, { json: { encryption_key: 'a newer key of the user' } });
    expect(await isOffered()).toBe(false);
    expect((await curl('GET', `${server.url}/backups/${old}/download`, session)).status).toBe(412);
  });

  test('can continue in the middle where ranges are supported, but only for the same file', async (context) => {
    const scene = await openScene(context, { revision: 61, ranges: true });
    const { server, v1 } = scene;
    const url = `${v1()}/backups/${server.backups[0]?.id}/download`;
    const whole = await curl('GET', url);
    const [etag = ''] = whole.headers['etag'] ?? [];
    expect(whole.headers['accept-ranges']).toEqual(['bytes']);
    const size = whole.bytes.length;
    const part = await curl('GET', url, { args: ['-H', 'range: bytes=1000-', '-H', `if-range: ${etag}`] });
    expect([part.status, part.headers['content-range']]).toEqual([206, [`bytes 1000-${size - 1}/${size}`]]);
    expect(part.bytes).toEqual(whole.bytes.subarray(1000));
    const few = await curl('GET', url, { args: ['-H', 'range: bytes=0-9'] });
    expect(few.bytes).toEqual(whole.bytes.subarray(0, 10));
    const changed = await curl('GET', url, { args: ['-H', 'range: bytes=1000-', '-H', 'if-range: "other"'] });
    expect([changed.status, changed.bytes.length]).toEqual([200, size]);
    const beyond = await curl('GET', url, { args: ['-H', `range: bytes=${size}-`] });
    expect([beyond.status, beyond.headers['content-range']]).toEqual([416, [`bytes */${size}`]]);
  });

  test('otherwise supports no ranges', async (context) => {
    const { server, v1 } = await openScene(context, { revision: 61 });
    const url = `${v1()}/backups/${server.backups[0]?.id}/download`;
    const { status, bytes, headers } = await curl('GET', url, { args: ['-H', 'range: bytes=1000-'] });
    expect([status, bytes.length]).toEqual([200, server.backups[0]?.size]);
    expect(headers).not.toHaveProperty('accept-ranges');
  });
});
