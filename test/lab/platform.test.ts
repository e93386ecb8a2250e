import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Lab } from '../../src/lab/lab.ts';
import { startTestLab } from '../bench-kit/lab.ts';
import { instanceOf } from './helpers.ts';
import {
  appOf,
  appsAre,
  audited,
  bind,
  bindings,
  cf,
  deploy,
  deploymentEnded,
  jobEnded,
  refusal,
  restore,
  stage,
  unbind,
} from './platform-helpers.ts';

let lab: Lab;

beforeAll(async () => {
  lab = await startTestLab({ platform: {}, sampleApp: { rowsPerSecond: 20 } });
});
afterAll(() => lab.close());

const APPS = ['orders-api', 'orders-report'];

async function newestOrder(instance = 'orders'): Promise<number> {
  const [row] = await instanceOf(lab, instance).query<{ id: string }>(
    'select max(id)::text as id from orders',
  );
  return Number(row?.id);
}

/** Stages and rolls out one application, as the platform's own tool does. */
async function restage(app: string): Promise<void> {
  const { guid } = await deploy(lab, app, await stage(lab, app));
  expect(await deploymentEnded(lab, guid)).toMatchObject({ reason: 'DEPLOYED' });
}

test('after a restore the applications are locked out until unbound, bound and restaged', async () => {
  const { guid } = instanceOf(lab, 'orders');
  await appsAre(lab, 'ok');
  const before = await bindings(lab, `&service_instance_guids=${guid}&type=app`);
  expect(before.map(({ name }) => name)).toEqual([null, 'reporting-db']);

  // The first backup knows none of the users that applications have now.
  await restore(lab);
  // Until the restored server is open, it makes them wait; then it refuses them.
  const isRefused = (error: string | undefined) => /password authentication failed/.test(error ?? '');
  await lab.platform?.appsReach(
    (apps) => apps.every(({ state, lastError }) => state === 'failing' && isRefused(lastError)),
    AbortSignal.timeout(20_000),
  );
  const restored = await newestOrder();

  // The trap: the platform says that it is bound already, and gives no new credentials.
  expect(refusal(await bind(lab, 'orders', 'orders-api'))).toBe(
    '422 10008 The app is already bound to the service instance',
  );
  expect(refusal(await bind(lab, 'orders', 'orders-api', { strategy: 'multiple' }))).toBe(
    '422 10008 The app has too many bindings to this service instance (limit: 1). Consider deleting existing/orphaned bindings.',
  );
  // A restart without a new binding begins with the same credentials.
  await cf(lab, 'POST', `/v3/apps/${appOf(lab, 'orders-api').guid}/actions/restart`);
  await appsAre(lab, 'failing', ['orders-api']);

  for (const [at, binding] of before.entries()) {
    const parameters = (await cf(lab, 'GET', `/v3/service_credential_bindings/${binding.guid}/parameters`))
      .json;
    expect(parameters).toEqual(at === 0 ? {} : { pool: 4, comment: 'nightly sums' });
    expect(await jobEnded(lab, await unbind(lab, binding.guid))).toMatchObject({
      state: 'COMPLETE',
      operation: 'service_bindings.delete',
    });
    expect(refusal(await unbind(lab, binding.guid))).toBe('404 10010 Service credential binding not found');
    const kept = { parameters, ...(binding.name === null ? {} : { name: binding.name }) };
    expect(await jobEnded(lab, await bind(lab, 'orders', APPS[at], kept))).toMatchObject({
      state: 'COMPLETE',
      operation: 'service_bindings.create',
    });
  }
  // New credentials are of no use to a process that was started with the old ones.
  expect(await appsAre(lab, 'failing')).toHaveLength(2);
  for (const app of APPS) await restage(app);
  await appsAre(lab, 'ok');
  await lab.platform?.appsReach(
    (apps) => apps.some(({ orders }) => Number(orders?.placed) > 0),
    AbortSignal.timeout(20_000),
  );
  expect(await newestOrder()).toBeGreaterThan(restored);
  const after = await bindings(lab, `&service_instance_guids=${guid}&type=app`);
  expect(after.map(({ name }) => name)).toEqual([null, 'reporting-db']);
  expect(after.map((one) => one.guid)).not.toEqual(before.map((one) => one.guid));
});

test('every step on an application and its bindings can be proven from the audit events', async () => {
  const { guid } = appOf(lab, 'orders-api');
  const earlier = (await audited(lab, `target_guids=${guid}`)).length;
  await cf(lab, 'POST', `/v3/apps/${guid}/actions/restart`);
  await restage('orders-api');
  expect((await audited(lab, `target_guids=${guid}`)).slice(earlier)).toEqual([
    'audit.app.restart',
    'audit.app.build.create',
    'audit.app.build.staged',
    'audit.app.droplet.mapped',
    'audit.app.deployment.create',
  ]);
  const made = await jobEnded(
    lab,
    await bind(lab, 'orders', undefined, { name: 'k', parameters: { pin: 'hush' } }),
  );
  expect(made.state).toBe('COMPLETE');
  const [key] = await bindings(lab, '&names=k');
  await jobEnded(lab, await unbind(lab, key?.guid ?? ''));
  const about = `target_guids=${key?.guid}`;
  expect(await audited(lab, about)).toEqual([
    'audit.service_key.start_create',
    'audit.service_key.create',
    'audit.service_key.start_delete',
    'audit.service_key.delete',
  ]);
  const types = `${about}&types=audit.service_key.delete,audit.service_key.create`;
  expect(await audited(lab, types)).toHaveLength(2);
  expect(await audited(lab, `${types}&created_ats[gt]=2099-01-01T00:00:00Z`)).toEqual([]);
  expect(await audited(lab, `${types}&created_ats[gt]=2001-01-01T00:00:00Z`)).toHaveLength(2);
  expect(refusal(await cf(lab, 'GET', '/v3/audit_events?created_ats[gt]=2026-01-01T00:00:00.123Z'))).toMatch(
    /^400 10005 .*YYYY-MM-DDThh:mm:ssZ/,
  );
  // Parameters may be secrets: no event tells them.
  expect(JSON.stringify((await cf(lab, 'GET', '/v3/audit_events?per_page=5000')).json)).not.toContain('hush');
});

test('applications move to another instance with the data; without a database the job fails', async () => {
  const target = instanceOf(lab, 'orders-dr');
  const { json } = await cf(lab, 'GET', `/v3/service_instances?names=orders-dr`);
  expect(json).toMatchObject({
    resources: [{ guid: target.guid, dashboard_url: `${lab.url}${target.v0}`, type: 'managed' }],
  });
  const [old] = await bindings(lab, `&app_guids=${appOf(lab, 'orders-api').guid}`);
  await lab.disaster('orders', true);
  await appsAre(lab, 'failing');
  const unbinding = await jobEnded(lab, await unbind(lab, old?.guid ?? ''));
  expect(unbinding).toMatchObject({
    state: 'FAILED',
    errors: [{ code: 10009, title: 'CF-UnableToPerform' }],
  });
  expect(unbinding.errors[0]?.detail).toContain('the database of orders does not answer');
  expect(refusal(await bind(lab, 'orders', 'orders-api'))).toBe(
    '422 10008 The binding is getting deleted or its deletion failed',
  );
  const [failed] = await bindings(lab, `&guids=${old?.guid}`);
  expect(failed?.last_operation).toMatchObject({ type: 'delete', state: 'failed' });

  await target.query('create table orders (id int, total int); insert into orders values (7, 9)');
  expect(await jobEnded(lab, await bind(lab, 'orders-dr', 'orders-api'))).toMatchObject({
    state: 'COMPLETE',
  });
  expect(appOf(lab, 'orders-api').bound).toEqual(['orders-dr', 'orders']);
  // A name that another binding of the application has is not free.
  expect(refusal(await bind(lab, 'orders-dr', 'orders-report', { name: 'reporting-db' }))).toMatch(
    /The app already has a binding with name 'reporting-db'/,
  );
  expect(await jobEnded(lab, await bind(lab, 'orders-dr', 'orders-report'))).toMatchObject({
    state: 'COMPLETE',
  });
  await restage('orders-report');
  await appsAre(lab, 'ok', ['orders-report']);
  expect(appOf(lab, 'orders-report').orders).toMatchObject({ sum: '9', newest: '7' });
  await lab.disaster('orders', false);
  expect(await jobEnded(lab, await unbind(lab, old?.guid ?? ''))).toMatchObject({ state: 'COMPLETE' });
});
