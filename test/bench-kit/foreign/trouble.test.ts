import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import process from 'node:process';
import { createInterface } from 'node:readline';
import { describe, expect, test } from 'vitest';
import { until } from '../until.ts';
import type { Trouble } from './call.ts';
import { curl, openScene } from './curl.ts';

describe('trouble', () => {
  test('an answer can be lost with the work done, or without', async (context) => {
    let trouble: Trouble = { answer: 'lost' };
    const { server, v1 } = await openScene(context, { trouble: () => trouble });
    expect((await curl('POST', `${v1()}/backups`)).exitCode).toBe(52);
    expect(server.backups).toHaveLength(2);
    trouble = { work: false, answer: 'lost' };
    expect((await curl('POST', `${v1()}/backups`)).exitCode).toBe(52);
    expect(server.backups).toHaveLength(2);
    expect(server.calls).toMatchObject([
      { number: 1, method: 'POST', instance: 'orders', answered: 'lost', did: true },
      { number: 2, answered: 'lost', did: false },
    ]);
  });

  test('work can be done long after the answer', async (context) => {
    const page = { status: 504, body: '<html>gateway timeout</html>', html: true };
    const { server, v1 } = await openScene(context, { trouble: () => ({ workAfterMs: 300, answer: page }) });
    const { status, headers, bytes } = await curl('PATCH', `${v1()}/restart`);
    expect([status, headers['content-type'], bytes.toString()]).toEqual([504, ['text/html'], page.body]);
    await until(() => server.instance('orders').deployments.length === 1);
    expect(server.calls).toMatchObject([{ answered: 504, did: true }]);
  });

  test.for(['plain', 'odd'] as const)(
    'a task can fail, and then changes nothing: %s',
    async (taste, context) => {
      const { server, v1, ended } = await openScene(context, {
        taste,
        trouble: () => ({ task: { fails: true } }),
      });
      const orders = server.instance('orders');
      const before = await orders.data();
      await orders.write(Buffer.from('after'));
      const backup = (await curl('POST', `${v1()}/backups`)).json<{ id: number }>();
      expect(await ended(`${v1()}/backups/${backup.id}`)).toMatchObject({
        status: 'failed',
        downloadable: false,
      });
      const url = `${v1()}/backups/${orders.backups.at(-1)?.id}/restore`;
      const restore = (await curl('POST', url)).json<{ id: number }>();
      expect(await ended(`${v1()}/restores/${restore.id}`)).toMatchObject({ status: 'failed' });
      expect(before.length).toBeGreaterThan(5);
      expect((await orders.data()).toString()).toBe('after');
      await curl('PATCH', `${v1()}/recreate`);
      await until(() => orders.state === 'failed');
    },
  );

  test('a download can end early, with or without an error of the connection', async (context) => {
    let trouble: Trouble = { cutAfter: 1000 };
    const { server, v1 } = await openScene(context, { revision: 61, ranges: true, trouble: () => trouble });
    const url = `${v1()}/backups/${server.backups[0]?.id}/download`;
    const cut = await curl('GET', url);
    expect([cut.exitCode, cut.bytes.length]).toEqual([0, 1000]);
    trouble = { breakAfter: 1000 };
    const broken = await curl('GET', url);
    expect([broken.exitCode, broken.bytes.length]).toEqual([18, 1000]);
  });

  test('the trouble sees every call before it is carried out, with everything but its key', async (context) => {
    const seen: string[] = [];
    const { server, v1 } = await openScene(context, {
      trouble: async (call) => {
        await Promise.resolve();
        seen.push(
          `${call.method} ${call.instance} ${call.query} ${JSON.stringify(call.body)} ${call.key?.length}`,
        );
        return undefined;
      },
    });
    await curl('GET', `${v1()}/metrics?quantity=1`);
    const json = { encryption_key: 'a key for the target', min_backup_count: 2 };
    await curl('PATCH', `${v1('orders-dr')}/backups-config`, { json });
    expect(seen).toEqual([
      'GET orders quantity=1 {} undefined',
      'PATCH orders-dr  {"min_backup_count":2} 64',
    ]);
    expect(server.instance('orders-dr').keys).toEqual(['a key for the target']);
  });
});

describe('the odd variant', () => {
  test('leaves out unknown values, and reports a status that is in no document', async (context) => {
    const gate = Promise.withResolvers<void>();
    const { server, v1 } = await openScene(context, {
      taskMs: 400,
      trouble: ({ method }) => (method === 'POST' ? { task: { until: gate.promise } } : undefined),
    });
    const { id } = (await curl('POST', `${v1()}/backups`)).json<{ id: number }>();
    const early = (await curl('GET', `${v1()}/backups/${id}`)).json<Record<string, unknown>>();
    expect(early).toMatchObject({ finished_at: null, downloadable: false });
    expect(early).not.toHaveProperty('size');
    gate.resolve();
    const words = new Set<string>();
    await until(() => {
      words.add(server.backups[0]?.status ?? '');
      return words.has('done');
    });
    expect([...words]).toContain('archiving');
  });

  test('the plain one has every field, and only words of the document', async (context) => {
    const gate = Promise.withResolvers<void>();
    const { server, v1, ended } = await openScene(context, {
      taste: 'plain',
      trouble: () => ({ task: { until: gate.promise } }),
    });
    const { id } = (await curl('POST', `${v1()}/backups`)).json<{ id: number }>();
    const early = (await curl('GET', `${v1()}/backups`)).json<Record<string, unknown>[]>();
    for (const field of [
      'id',
      'backup_id',
      'size',
      'status',
      'triggered_at',
      'finished_at',
      'downloadable',
    ]) {
      expect(early[0]?.[field], field).not.toBeNull();
      expect(early[0], field).toHaveProperty(field);
    }
    gate.resolve();
    const words = new Set<string>();
    await until(() => {
      words.add(server.backups[0]?.status ?? '');
      return words.has('done');
    });
    expect([...words].filter((word) => !/^(?:queued|running|done)$/.test(word))).toEqual([]);
    await ended(`${v1()}/backups/${id}`);
  });
});

test('there are as many instances as requested, each with its own data, keys and tasks', async (context) => {
  const { server, v1 } = await openScene(context, {
    instances: [
      { name: 'one', guid: 'id-1', key: 'the key of number one', backups: 2 },
      { name: 'two', guid: 'id-2' },
      { name: 'three', guid: 'id-3', archiving: true },
    ],
  });
  const [one, two, three] = server.instances;
  expect(server.url).toMatch(/\/service-instances\/id-1$/);
  expect(server.instances.map(({ keys, backups }) => [keys.length, backups.length])).toEqual([
    [1, 2],
    [0, 0],
    [0, 0],
  ]);
  const data = await Promise.all(server.instances.map((instance) => instance.data()));
  expect(new Set(data.map(String)).size).toBe(3);
  expect(new Set([one, two, three].map((instance) => instance?.backupGuid)).size).toBe(3);
  const statuses = ['one', 'two', 'three'].map(
    async (name) => (await curl('GET', `${v1(name)}/pitr`)).status,
  );
  expect(await Promise.all(statuses)).toEqual([404, 404, 202]);
  // Ids of backups are the instance's own: another one does not know them.
  expect((await curl('GET', `${v1('two')}/backups/${one?.backups[0]?.id}`)).status).toBe(404);
  expect(() => server.instance('four')).toThrow('there is no instance four');
});

test('closing ends everything in progress', async (context) => {
  const { server, v1 } = await openScene(context, {
    taskMs: 3_600_000,
    trouble: ({ path }) =>
      path.endsWith('/restart') ? { workAfterMs: 3_600_000, answer: 'lost' } : undefined,
  });
  await curl('POST', `${v1()}/backups`);
  await curl('PATCH', `${v1()}/recreate`);
  await curl('PATCH', `${v1()}/restart`);
  await server.close();
  expect(server.backups[0]?.status).toBe('failed');
  expect(server.instance('orders').deployments).toEqual(['recreate']);
});

describe('the foreign service started by hand', () => {
  test.for(['61', '62', 'v0'])('prints its address and runs until SIGTERM: revision %s', async (revision) => {
    const program = join(import.meta.dirname, 'serve.ts');
    const child = spawn(process.execPath, [program, '--revision', revision, '--task-ms', '10'], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    try {
      const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
      const said = JSON.parse(line) as Record<'url' | 'token' | 'readOnlyToken' | 'key', string> & {
        instances: Record<string, string>;
      };
      expect(said.instances['orders']).toBe(said.url);
      expect(Object.keys(said.instances)).toEqual(['orders', 'orders-dr']);
      expect(said.key.length).toBeGreaterThan(12);
      const v1 = said.url.replace('/service-instances/', '/v1/instances/');
      const [url, expected] = revision === 'v0' ? [`${said.url}/backups`, 302] : [`${v1}/backups`, 200];
      expect((await curl('GET', url, { token: said.token })).status).toBe(expected);
      expect((await curl('GET', url, { token: said.readOnlyToken })).status).toBe(expected);
      const ended = once(child, 'close');
      child.kill('SIGTERM');
      expect(await ended).toEqual([0, null]);
    } finally {
      child.kill('SIGKILL');
    }
  });

  test('ends with 2 when it is started with wrong arguments', async () => {
    const child = spawn(process.execPath, [join(import.meta.dirname, 'serve.ts'), '--revision', '60'], {
      stdio: 'ignore',
    });
    expect(await once(child, 'close')).toEqual([2, null]);
  });
});
