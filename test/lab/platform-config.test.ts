import { execFile } from 'node:child_process';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { parse } from 'yaml';
import { Config } from '../../src/config/schema.ts';
import type { Lab } from '../../src/lab/lab.ts';
import { querySampleData } from '../../src/lab/query-sample-data.ts';
import { ORDERS, startTestLab } from '../bench-kit/lab.ts';
import { instanceOf } from './helpers.ts';
import { cf, restore } from './platform-helpers.ts';

const QUERY = join(import.meta.dirname, '../../src/lab/query-sample-data.ts');

test('the config names platform and applications, and how the data of an instance is queried', async () => {
  const script =
    'const [q, f, i] = process.argv.slice(1); console.log(await (await import(q)).querySampleData(f, i))';
  const queryCommand = (instance: string, folder: string) =>
    `'${process.execPath}' --input-type=module -e "${script}" '${QUERY}' '${folder}' '${instance}'`;
  const lab = await startTestLab({ platform: {}, queryCommand });
  onTestFinished(() => lab.close());
  const config = Config.parse(parse(lab.configYaml));
  expect(config.platform).toEqual({ api: lab.url, token: { file: lab.tokenFile } });
  expect(config.instances['orders']?.apps).toEqual([
    { name: 'orders-api', space: 'prod', org: 'acme' },
    { name: 'orders-report', space: 'prod', org: 'acme' },
  ]);
  expect(config.instances['orders-dr']?.apps).toEqual([]);
  const command = config.instances['orders']?.reconcile?.command ?? '';
  const { stdout } = await promisify(execFile)('/bin/sh', ['-c', command]);
  expect(stdout).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z 120\n$/);
});

let plain: Lab;
beforeAll(async () => {
  plain = await startTestLab({ instances: ORDERS });
});
afterAll(() => plain.close());

test('without a platform the config says so, and nothing answers at its address', async () => {
  const lab = plain;
  const config = Config.parse(parse(lab.configYaml));
  expect(config.platform).toBe('none');
  expect(config.instances['orders']).toMatchObject({ apps: [] });
  expect(config.instances['orders']).not.toHaveProperty('reconcile');
  expect(lab.platform).toBeUndefined();
  expect((await cf(lab, 'GET', '/v3/info')).status).toBe(404);
});

test('the data of an instance can be asked after a restore too, without any right to change it', async () => {
  const lab = plain;
  expect((await stat(join(lab.folder, 'sockets.json'))).mode & 0o777).toBe(0o600);
  await restore(lab);
  expect(await querySampleData(lab.folder, 'orders')).toMatch(/ 120$/);
  const { query } = instanceOf(lab, 'orders');
  await query('alter table orders rename to real_orders');
  await query(`
    create function harm() returns timestamptz language sql as 'delete from order_lines; select now()';
    create view orders as select id, harm() as created_at from real_orders;
  `);
  await expect(querySampleData(lab.folder, 'orders')).rejects.toMatchObject({
    code: 'lab.down',
    evidence: { error: expect.stringContaining('permission denied') },
  });
  await query('drop view orders; truncate real_orders cascade; alter table real_orders rename to orders');
  expect(await querySampleData(lab.folder, 'orders')).toBe('0');
  await lab.disaster('orders', true);
  await expect(querySampleData(lab.folder, 'orders')).rejects.toMatchObject({ code: 'lab.down' });
  await expect(querySampleData(lab.folder, 'nowhere')).rejects.toMatchObject({ code: 'lab.instance' });
  await lab.close();
  await expect(querySampleData(lab.folder, 'orders')).rejects.toMatchObject({ code: 'lab.folder' });
});
