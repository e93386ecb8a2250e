import { afterAll, beforeAll, expect, test } from 'vitest';
import * as z from 'zod';
import type { Lab } from '../../src/lab/lab.ts';
import { startTestLab } from '../bench-kit/lab.ts';
import { instanceOf } from './helpers.ts';
import {
  appOf,
  appsAre,
  bind,
  bindingBody,
  bindings,
  CfPage,
  cf,
  deploy,
  deploymentEnded,
  jobEnded,
  readOnlyToken,
  refusal,
  stage,
  unbind,
} from './platform-helpers.ts';

let lab: Lab;

beforeAll(async () => {
  lab = await startTestLab({
    platform: { maxBindings: 2, unseen: { orders: 3 } },
    instances: [
      { name: 'orders', sampleApp: true },
      { name: 'billing', sampleApp: true },
      { name: 'orders-dr' },
    ],
  });
});
afterAll(() => lab.close());

const BINDINGS = '/v3/service_credential_bindings';

test('an instance with sample data has two applications and a key; an empty one has none', async () => {
  const apps = CfPage.parse((await cf(lab, 'GET', '/v3/apps')).json).resources;
  expect(apps.map(({ name }) => name)).toEqual([
    'orders-api',
    'orders-report',
    'billing-api',
    'billing-report',
  ]);
  expect((await bindings(lab, '&type=key')).map(({ name }) => name)).toEqual(['ops', 'ops']);
  expect(await bindings(lab, `&service_instance_guids=${instanceOf(lab, 'orders-dr').guid}`)).toEqual([]);
  const { json: orgs } = await cf(lab, 'GET', '/v3/organizations?names=acme');
  const [org] = CfPage.parse(orgs).resources;
  const { json: spaces } = await cf(lab, 'GET', `/v3/spaces?names=prod&organization_guids=${org?.guid}`);
  const [space] = CfPage.parse(spaces).resources;
  const inSpace = await cf(lab, 'GET', `/v3/apps?names=billing-api,nobody&space_guids=${space?.guid}`);
  expect(CfPage.parse(inSpace.json).resources).toHaveLength(1);
  const elsewhere = await cf(lab, 'GET', `/v3/service_instances?space_guids=${org?.guid}`);
  expect(CfPage.parse(elsewhere.json).resources).toEqual([]);
});

test('a token learns what it may do with an instance', async () => {
  const { guid } = instanceOf(lab, 'orders');
  const path = `/v3/service_instances/${guid}/permissions`;
  expect(await cf(lab, 'GET', path)).toMatchObject({ status: 200, json: { read: true, manage: true } });
  const readOnly = await cf(lab, 'GET', path, { token: await readOnlyToken(lab) });
  expect(readOnly.json).toEqual({ read: true, manage: false });
  const nowhere = path.replace(guid, '00000000-0000-4000-8000-000000000000');
  expect((await cf(lab, 'GET', nowhere)).status).toBe(404);
});

test('lists come in pages with links to each other', async () => {
  const seen: string[] = [];
  let href: string | undefined = `${BINDINGS}?per_page=4&type=app,key`;
  while (href !== undefined) {
    const { pagination, resources } = CfPage.parse((await cf(lab, 'GET', href)).json);
    expect(pagination).toMatchObject({ total_results: 6, total_pages: 2 });
    seen.push(...resources.map(({ guid }) => guid));
    href = pagination.next?.href;
  }
  expect(new Set(seen).size).toBe(6);
  expect(refusal(await cf(lab, 'GET', `${BINDINGS}?per_page=5001`))).toMatch(
    /^400 10005 .*between 1 and 5000/,
  );
  expect(refusal(await cf(lab, 'GET', `${BINDINGS}?app_guid=x`))).toMatch(
    /^400 10005 .*Unknown query parameter/,
  );
});

test('a list of bindings includes their applications and instances', async () => {
  const { guid } = instanceOf(lab, 'billing');
  const { json } = await cf(
    lab,
    'GET',
    `${BINDINGS}?service_instance_guids=${guid}&include=app,service_instance`,
  );
  expect(json).toMatchObject({
    included: {
      apps: [{ name: 'billing-api' }, { name: 'billing-report' }],
      service_instances: [
        { guid, name: 'billing', maintenance_info: {}, last_operation: { state: 'succeeded' } },
      ],
    },
  });
});

test('applications in spaces that a token may not see are only counted', async () => {
  const path = (name: string) =>
    `/v3/service_instances/${instanceOf(lab, name).guid}/relationships/shared_spaces/usage_summary`;
  const { json } = await cf(lab, 'GET', path('orders'));
  const summary = z.object({
    usage_summary: z.array(z.object({ space: z.object({ guid: z.guid() }), bound_app_count: z.int() })),
  });
  const [shared] = summary.parse(json).usage_summary;
  expect(shared?.bound_app_count).toBe(3);
  const spaces = await cf(lab, 'GET', `/v3/spaces?guids=${shared?.space.guid}`);
  expect(CfPage.parse(spaces.json).resources).toEqual([]);
  expect((await cf(lab, 'GET', path('orders-dr'))).json).toMatchObject({ usage_summary: [] });
});

test('no token gets no answer; the read-only token changes nothing and sees no credentials', async () => {
  const token = await readOnlyToken(lab);
  const { guid } = appOf(lab, 'orders-api');
  const [binding] = await bindings(lab, `&app_guids=${guid}`);
  expect(refusal(await cf(lab, 'GET', '/v3/apps', { token: undefined }))).toBe(
    '401 10002 Authentication error',
  );
  expect(refusal(await cf(lab, 'GET', '/v3/apps', { token: 'none' }))).toBe('401 1000 Invalid Auth Token');
  expect((await cf(lab, 'GET', '/')).json).toMatchObject({
    links: { cloud_controller_v3: { href: `${lab.url}/v3` } },
  });
  expect((await cf(lab, 'GET', BINDINGS, { token })).status).toBe(200);
  const forbidden = '403 10003 You are not authorized to perform the requested action';
  for (const [method, path] of [
    ['DELETE', `${BINDINGS}/${binding?.guid}`],
    ['POST', BINDINGS],
    ['POST', '/v3/builds'],
    ['POST', '/v3/deployments'],
    ['POST', `/v3/apps/${guid}/actions/stop`],
    ['PATCH', `/v3/apps/${guid}/relationships/current_droplet`],
    ['GET', `${BINDINGS}/${binding?.guid}/details`],
    ['GET', `${BINDINGS}/${binding?.guid}/parameters`],
    ['GET', `/v3/apps/${guid}/env`],
  ] as const) {
    expect(refusal(await cf(lab, method, path, { token })), `${method} ${path}`).toBe(forbidden);
  }
});

test('the details of a key open the database', async () => {
  const { guid } = instanceOf(lab, 'orders');
  const [key] = await bindings(lab, `&service_instance_guids=${guid}&type=key`);
  const { json } = await cf(lab, 'GET', `${BINDINGS}/${key?.guid}/details`);
  const { credentials } = z.object({ credentials: z.object({ uri: z.string() }) }).parse(json);
  const { Client } = await import('pg');
  const client = new Client(credentials.uri);
  await client.connect();
  expect((await client.query('select count(*)::int as n from orders')).rows).toEqual([{ n: 120 }]);
  await client.end();
  expect(refusal(await bind(lab, 'orders', undefined, { name: 'ops' }))).toMatch(
    /Key binding names must be unique/,
  );
});

test('with room for two bindings an application switches without downtime, with a label', async () => {
  await appsAre(lab, 'ok');
  const { guid } = appOf(lab, 'orders-report');
  const [old] = await bindings(lab, `&app_guids=${guid}`);
  const metadata = { labels: { 'lifeboat.run': '01RUN' } };
  const beside = { name: 'reporting-db', strategy: 'multiple', metadata };
  expect(refusal(await bind(lab, 'orders', 'orders-report', { ...beside, strategy: 'single' }))).toBe(
    '422 10008 The app is already bound to the service instance',
  );
  expect(refusal(await bind(lab, 'orders', 'orders-report', { ...beside, name: 'other' }))).toBe(
    '422 10008 The binding name cannot be changed for the same app and service instance',
  );
  // Two at once: the second meets the first under way.
  const [first, second] = await Promise.all([
    bind(lab, 'orders', 'orders-report', beside),
    bind(lab, 'orders', 'orders-report', beside),
  ]);
  expect([first.status, second.status].toSorted()).toEqual([202, 422]);
  expect(await jobEnded(lab, first.status === 202 ? first : second)).toMatchObject({ state: 'COMPLETE' });
  const found = await bindings(lab, `&label_selector=${encodeURIComponent('lifeboat.run=01RUN')}`);
  expect(found.map(({ relationships }) => relationships.app?.data.guid)).toEqual([guid]);
  expect(await bindings(lab, `&label_selector=${encodeURIComponent('lifeboat.run in (a,b)')}`)).toEqual([]);
  expect(refusal(await bind(lab, 'orders', 'orders-report', beside))).toBe(
    '422 10008 The app has too many bindings to this service instance (limit: 2). Consider deleting existing/orphaned bindings.',
  );

  const states: string[] = [];
  const watching = new AbortController();
  const watched = lab.platform?.appsReach((apps) => {
    states.push(apps.find((app) => app.guid === guid)?.state ?? 'none');
    return false;
  }, watching.signal);
  const droplet = await stage(lab, 'orders-report', metadata);
  const deployment = await deploy(lab, 'orders-report', droplet, metadata);
  expect(await deploymentEnded(lab, deployment.guid)).toMatchObject({ reason: 'DEPLOYED' });
  expect(await jobEnded(lab, await unbind(lab, old?.guid ?? ''))).toMatchObject({ state: 'COMPLETE' });
  watching.abort();
  await expect(watched).rejects.toThrow();
  expect(new Set(states)).toEqual(new Set(['ok']));
  expect(appOf(lab, 'orders-report').state).toBe('ok');
  for (const kind of ['builds', 'deployments']) {
    const labelled = await cf(lab, 'GET', `/v3/${kind}?label_selector=lifeboat.run%3D%3D01RUN`);
    expect(CfPage.parse(labelled.json).resources, kind).toHaveLength(1);
  }
});

test('an invalid request is refused in the words of the platform', async () => {
  const nobody = 'e5d1f0a2-6b43-4c8e-9d21-7a30c5b9f614';
  const post = (path: string, body: unknown) => cf(lab, 'POST', path, { body });
  const good = bindingBody(lab, 'orders', 'orders-api');
  expect(refusal(await post(BINDINGS, { ...good, type: 'route' }))).toMatch(/^422 10008 type: /);
  expect(
    refusal(
      await post(BINDINGS, { ...good, relationships: { service_instance: { data: { guid: nobody } } } }),
    ),
  ).toMatch(/The service instance could not be found/);
  expect(refusal(await post(BINDINGS, bindingBody(lab, 'orders', undefined)))).toMatch(/name can't be blank/);
  expect(refusal(await post(BINDINGS, { ...good, metadata: { labels: { 'no spaces': 'x' } } }))).toMatch(
    /^422 /,
  );
  expect(refusal(await post('/v3/builds', { package: { guid: nobody } }))).toMatch(/Unable to use package/);
  expect(
    refusal(await post('/v3/deployments', { relationships: { app: { data: { guid: nobody } } } })),
  ).toMatch(/Unable to use app/);
  expect(refusal(await cf(lab, 'GET', `/v3/jobs/${nobody}`))).toBe('404 10010 Job not found');
  expect(refusal(await cf(lab, 'GET', '/v3/routes'))).toBe('404 10000 Unknown request');
  const raw = await fetch(`${lab.url}${BINDINGS}`, {
    method: 'POST',
    body: '{"type":',
    headers: {
      authorization: `bearer ${await (await import('node:fs/promises')).readFile(lab.tokenFile, 'utf8')}`,
    },
  });
  expect(refusal({ status: raw.status, location: null, json: await raw.json() })).toMatch(/^400 1001 /);
});
