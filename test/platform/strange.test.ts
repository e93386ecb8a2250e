import { expect, onTestFinished, test } from 'vitest';
import { failureOf } from '../../src/base/errors.ts';
import { Secret } from '../../src/base/secret.ts';
import { openPlatform } from '../../src/platform/open.ts';
import type { Pace } from '../../src/platform/wait.ts';
import { type ForeignCapiOptions, startForeignCapi } from '../bench-kit/foreign/capi.ts';
import { rejection } from '../service/serve.ts';
import { PACE, RUN } from './world.ts';

const URL = 'https://dashboard.example.com/service-instances/77';
const TOKEN = 'tok-of-a-foreign-platform';

/**
 * One application with a worker, bound an hour ago to an instance of a foreign platform;
 * restored ten minutes ago.
 */
async function strange(given: Partial<ForeignCapiOptions> = {}, pace: Partial<Pace> = {}) {
  const capi = await startForeignCapi({ token: TOKEN, jobMs: 5, ...given });
  onTestFinished(capi.close);
  const { land } = capi;
  const space = land.addSpace('prod', 'acme');
  const instance = land.addInstance({ name: 'db', space, dashboardUrl: URL });
  const app = land.addApp({ name: 'shop', space }, { web: 1, worker: 1 });
  land.addBinding({ instance, app, parameters: { role: 'writer' } });
  const platform = await openPlatform(
    { platform: { api: capi.url, token: { env: 'UNUSED' } } },
    {
      tokenOf: () => async () => new Secret(`bearer ${TOKEN}`),
      env: {},
      limits: { retryBaseMs: 2 },
      pace: { ...PACE, ...pace },
    },
  );
  if ('none' in platform) throw new Error(platform.none);
  onTestFinished(platform.close);
  const { signal } = new AbortController();
  const options = {
    signal,
    mayLeave: () => undefined,
    runId: RUN,
    notBefore: new Date(land.now() - 600_000).toISOString(),
  };
  const find = () => platform.find(URL, signal);
  const bound = (await find()).apps[0];
  if (bound === undefined) throw new Error('nobody is bound');
  const to = { guid: instance.guid, name: instance.name };
  return { capi, land, app, instance, to, platform, options, find, bound };
}

test('an application is not proven while its worker runs with the old credentials', async () => {
  const { land, app, instance, to, platform, options, bound } = await strange();
  land.bindings = [];
  land.addBinding({ instance, app, createdAt: land.now() - 60_000 });
  const [web, worker] = app.processes;
  if (web !== undefined) web.startedAt = land.now();
  const early = await platform.prove(bound, to, options);
  expect(early).toMatchObject({ code: 'app.not-rebound' });
  expect(early).toMatchObject({ shortMessage: expect.stringContaining('1 since before it was bound') });
  if (worker !== undefined) worker.startedAt = land.now();
  expect(await platform.prove(bound, to, options)).toMatchObject({ outcome: 'done' });
});

test('a run never removes the binding that it has made', async () => {
  const { capi, land, platform, options, find, bound, to } = await strange({ maxBindings: 2 });
  await platform.bind(bound, to, { ...options, parameters: undefined, beside: true });
  const made = land.bindings.find(({ labels }) => labels !== undefined);
  const again = (await find()).apps[0] ?? bound;
  expect(again.binding?.guid).toBe(made?.guid);
  const failure = failureOf(await rejection(platform.unbind(again, options)));
  expect(failure.shortMessage).toContain('this run has made');
  expect(capi.wishes.map(({ method }) => method)).toEqual(['POST']);
});

test('a broker that accepts a request and never finishes it is not awaited endlessly', async () => {
  const { land, platform, options, bound } = await strange({ jobMs: 3_600_000 }, { unbindMs: 30 });
  const failure = failureOf(await rejection(platform.unbind(bound, options)));
  expect(failure).toMatchObject({ code: 'platform.failed' });
  expect(land.bindings).toHaveLength(1);
});

test('a broker that accepts a binding and never delivers it is not awaited endlessly, and is not asked for a second', async () => {
  const { capi, land, platform, options, bound, to } = await strange({ jobMs: 3_600_000 }, { bindMs: 30 });
  land.bindings = [];
  const bind = () =>
    rejection(platform.bind(bound, to, { ...options, parameters: undefined, beside: false }));
  expect(failureOf(await bind())).toMatchObject({ code: 'platform.failed' });
  expect(failureOf(await bind())).toMatchObject({ code: 'platform.failed' });
  expect(capi.wishes.map(({ method }) => method)).toEqual(['POST']);
});

test('applications are still found when the request for parameters gets a 502', async () => {
  const { instance, find } = await strange();
  instance.brokerSays = 'The service broker could not be reached';
  const found = await find();
  expect(found.apps.map(({ name }) => name)).toEqual(['shop']);
  expect(found.parametersUnreported).toContain('could not be reached');
});

test('a change that is refused because of too many requests is repeated once it is allowed', async () => {
  let refused = false;
  const errors = [{ code: 10_013, title: 'CF-RateLimitExceeded', detail: 'Rate Limit Exceeded' }];
  const answer = { status: 429, json: { errors }, headers: { 'retry-after': '0' } };
  const { land, platform, options, bound } = await strange({
    mishap: () => {
      if (refused) return undefined;
      refused = true;
      return { work: false, answer };
    },
  });
  expect(await platform.unbind(bound, options)).toMatchObject({ outcome: 'done' });
  expect(refused).toBe(true);
  expect(land.bindings).toEqual([]);
});

test('what the platform created although it refused the request is found, and is not created again', async () => {
  const refused = new Set<string>();
  const errors = [{ code: 10_013, title: 'CF-RateLimitExceeded', detail: 'Rate Limit Exceeded' }];
  const answer = { status: 429, json: { errors }, headers: { 'retry-after': '0' } };
  const { capi, land, platform, options, bound, to } = await strange({
    mishap: ({ method, path }) => {
      if (method === 'GET' || refused.has(path)) return undefined;
      refused.add(path);
      return { work: true, answer };
    },
  });
  land.bindings = [];
  await platform.bind(bound, to, { ...options, parameters: undefined, beside: false });
  await platform.restage(bound, options);
  const made = capi.wishes.map(({ method, path }) => `${method} ${path}`);
  expect(made).toEqual(['POST /v3/service_credential_bindings', 'POST /v3/builds', 'POST /v3/deployments']);
});
