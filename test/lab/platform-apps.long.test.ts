import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import * as z from 'zod';
import type { Lab } from '../../src/lab/lab.ts';
import { querySampleData } from '../../src/lab/query-sample-data.ts';
import { startTestLab } from '../bench-kit/lab.ts';
import { isRunning } from '../bench-kit/process-tree.ts';
import { call, instanceOf, temporaryFolder, until } from './helpers.ts';
import {
  appOf,
  appsAre,
  bindings,
  cf,
  deploy,
  deploymentEnded,
  jobEnded,
  unbind,
} from './platform-helpers.ts';

const FIXTURE = join(import.meta.dirname, 'fixtures/lab-process.ts');

const INSTANCES = [{ name: 'orders', sampleApp: true }];

async function gone(pids: readonly (number | undefined)[]): Promise<void> {
  await until(`the processes ${pids} are gone`, async () =>
    pids.some((pid) => pid !== undefined && isRunning(pid)) ? undefined : true,
  );
}

test('an application reports on its port; its arguments and environment hold no secret', async () => {
  const lab = await startTestLab({ platform: {}, instances: INSTANCES, sampleApp: { rowsPerSecond: 50 } });
  onTestFinished(() => lab.close());
  await appsAre(lab, 'ok');
  const { url, pid, guid } = appOf(lab, 'orders-api');
  const first = await (await fetch(url ?? '')).json();
  expect(first).toMatchObject({ app: 'orders-api', state: 'ok', lastError: null });
  const env = await cf(lab, 'GET', `/v3/apps/${guid}/env`);
  const Env = z.object({
    system_env_json: z.object({
      VCAP_SERVICES: z.record(
        z.string(),
        z.array(z.object({ credentials: z.object({ password: z.string().min(20) }) })),
      ),
    }),
  });
  const [service] = Object.values(Env.parse(env.json).system_env_json.VCAP_SERVICES).flat();
  for (const file of ['cmdline', 'environ']) {
    expect(await readFile(`/proc/${pid}/${file}`, 'latin1')).not.toContain(service?.credentials.password);
  }
  expect(await readdir(join(lab.folder, 'apps'))).toEqual([]);
  const { json } = await call(lab, 'GET', '/lab/apps');
  expect(json).toMatchObject({ apps: [{ name: 'orders-api', state: 'ok' }, { name: 'orders-report' }] });
  await lab.close();
  await gone([pid]);
  await expect(fetch(url ?? '')).rejects.toThrow();
});

/* One lab for those that leave it as they found it, and for the last, which takes a binding away. */
let shared: Lab | undefined;
afterAll(() => shared?.close());

async function sharedLab(): Promise<Lab> {
  shared ??= await startTestLab({ platform: { rolloutMs: 3_000 }, instances: INSTANCES });
  await appsAre(shared, 'ok');
  return shared;
}

test('when the lab is at rest no order is placed, and the applications still report whether they can log in', async () => {
  const lab = await sharedLab();
  expect(await querySampleData(lab.folder, 'orders')).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z 120$/);
  await instanceOf(lab, 'orders').query(
    `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'orders-api'`,
  );
  await appsAre(lab, 'failing', ['orders-api']);
  await appsAre(lab, 'ok');
  expect(await querySampleData(lab.folder, 'orders')).toMatch(/ 120$/);
});

test('a stopped application has no process, and a crashed one gets another', async () => {
  const lab = await sharedLab();
  const { guid, pid } = appOf(lab, 'orders-api');
  const act = (action: string) => cf(lab, 'POST', `/v3/apps/${guid}/actions/${action}`);
  const stats = async () => (await cf(lab, 'GET', `/v3/apps/${guid}/processes/web/stats`)).json;
  expect(await stats()).toMatchObject({ resources: [{ state: 'RUNNING', index: 0 }] });
  expect((await act('stop')).json).toMatchObject({ state: 'STOPPED' });
  expect(isRunning(pid ?? 0)).toBe(false);
  expect(await stats()).toMatchObject({ resources: [{ state: 'DOWN' }] });
  expect(appOf(lab, 'orders-api')).toMatchObject({ state: 'stopped', pid: undefined });
  expect((await act('start')).json).toMatchObject({ state: 'STARTED' });
  await appsAre(lab, 'ok');
  const second = appOf(lab, 'orders-api').pid ?? 0;
  expect(second).not.toBe(pid);
  process.kill(second, 'SIGKILL');
  await until('another process has come up', async () => {
    const now = appOf(lab, 'orders-api');
    return now.state === 'ok' && now.pid !== second ? true : undefined;
  });
});

test('a rollout whose new process cannot work ends with its error, and the old process stays', async () => {
  const lab = await sharedLab();
  const { guid, pid } = appOf(lab, 'orders-api');
  // It has a connection; new ones are refused.
  await instanceOf(lab, 'orders').query('alter database postgres connection limit 0');
  const droplets = async () => (await cf(lab, 'GET', `/v3/apps/${guid}/droplets/current`)).json;
  const before = await droplets();
  const canceled = await deploy(lab, 'orders-api');
  expect((await cf(lab, 'POST', `/v3/deployments/${canceled.guid}/actions/cancel`)).status).toBe(200);
  expect(await deploymentEnded(lab, canceled.guid)).toEqual({
    value: 'FINALIZED',
    reason: 'CANCELED',
    details: {},
  });
  const failed = await deploy(lab, 'orders-api');
  expect(await deploymentEnded(lab, failed.guid)).toMatchObject({
    reason: 'CANCELED',
    details: { error: expect.stringContaining('too many connections') },
  });
  expect(appOf(lab, 'orders-api')).toMatchObject({ pid, state: 'ok' });
  expect(await droplets()).toEqual(before);
  expect((await cf(lab, 'POST', `/v3/deployments/${failed.guid}/actions/cancel`)).status).toBe(422);
  await instanceOf(lab, 'orders').query('alter database postgres connection limit -1');
});

test('an application whose binding is removed fails at once, and one without any binding says so', async () => {
  const lab = await sharedLab();
  const { guid } = appOf(lab, 'orders-api');
  const [binding] = await bindings(lab, `&app_guids=${guid}`);
  await jobEnded(lab, await unbind(lab, binding?.guid ?? ''));
  await appsAre(lab, 'failing', ['orders-api']);
  await cf(lab, 'POST', `/v3/apps/${guid}/actions/restart`);
  const [app] = (await appsAre(lab, 'failing', ['orders-api'])) ?? [];
  expect(app?.lastError).toBe('no service is bound');
});

test.each([
  ['SIGKILL', 'as the system can'],
  ['SIGKILL', 'without setpriv'],
  ['SIGTERM', 'as the system can'],
] as const)('a lab that ends by %s leaves no application behind, %s', async (signal, way) => {
  const temporary = await temporaryFolder();
  await chmod(temporary, 0o755);
  const PATH = way === 'without setpriv' ? '/nonexistent' : process.env['PATH'];
  const child: ChildProcess = spawn(process.execPath, [FIXTURE, '{}'], {
    env: { PATH, TMPDIR: temporary, HOME: temporary },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  if (child.stdout === null) throw new Error('no output');
  const [line] = await once(createInterface({ input: child.stdout }), 'line');
  const lab = z.object({ url: z.string(), tokenFile: z.string() }).parse(JSON.parse(line));
  const Apps = z.object({ apps: z.array(z.object({ state: z.string(), pid: z.int().optional() })) });
  const pids = await until('the applications run', async () => {
    const { apps } = Apps.parse((await call(lab, 'GET', '/lab/apps')).json);
    return apps.length === 2 && apps.every(({ state }) => state === 'ok')
      ? apps.map(({ pid }) => pid)
      : undefined;
  });
  const ended = once(child, 'exit');
  child.kill(signal);
  await ended;
  await gone(pids);
});
