import { describe, expect, onTestFinished, test } from 'vitest';
import { failureOf } from '../../src/base/errors.ts';
import { Secret } from '../../src/base/secret.ts';
import { openPlatform } from '../../src/platform/open.ts';
import { rejection } from '../service/serve.ts';
import { problem } from './capi-changes.ts';
import { startCapi, TOKEN } from './capi-server.ts';
import { byApi, DASHBOARD, scene } from './world.ts';

const signal = new AbortController().signal;

describe('finding', () => {
  test('reads every page, and gives names, places, states, keys and parameters', async () => {
    const { capi, platform, to } = await scene();
    const { model } = capi;
    for (const number of [2, 3, 4, 5]) {
      const app = model.addApp(`app-${number}`, { state: 'STOPPED' });
      model.addBinding(app, to.guid, { name: `n${number}`, parameters: { number } });
    }
    for (const name of ['a', 'b', 'c', 'd']) model.addInstance(name, `${DASHBOARD}0${name}`);
    model.addBinding(undefined, to.guid, { name: 'ops' });
    const found = await platform.find(DASHBOARD, signal);
    expect(found.instance).toEqual({ guid: to.guid, name: 'orders', space: 'prod', org: 'acme' });
    expect(found.apps.map(({ name }) => name).sort()).toEqual([
      'app-2',
      'app-3',
      'app-4',
      'app-5',
      'orders-api',
    ]);
    expect(found.apps.find(({ name }) => name === 'app-3')).toMatchObject({
      space: 'prod',
      org: 'acme',
      running: false,
      binding: { name: 'n3' },
      parameters: { number: 3 },
    });
    expect(found.keys).toMatchObject([{ name: 'ops' }]);
    expect(found.allowsTwoBindings).toBe(false);
    expect(capi.calls.every((call) => call.startsWith('GET '))).toBe(true);
  });

  test('tells of applications in spaces that the token does not see', async () => {
    const { capi, platform } = await scene();
    capi.model.usage.push({ space: 'space-hidden', apps: 2 }, { space: 'space-prod', apps: 1 });
    expect((await platform.find(DASHBOARD, signal)).unseen).toEqual([{ space: 'space-hidden', apps: 2 }]);
  });

  test('knows that two bindings are allowed from the platform, or from an application that has two', async () => {
    const { capi, platform, app, to } = await scene();
    capi.model.info = { custom: { max_service_credential_bindings_per_app_service_instance: 2 } };
    expect((await platform.find(DASHBOARD, signal)).allowsTwoBindings).toBe(true);
    capi.model.info = {};
    capi.model.addBinding(app, to.guid);
    const found = await platform.find(DASHBOARD, signal);
    expect(found).toMatchObject({ allowsTwoBindings: true });
    expect(found.apps).toHaveLength(1);
  });

  test('does without what the platform does not tell: parameters, usage, names', async () => {
    const { capi, platform } = await scene();
    capi.faults.push(
      {
        call: /parameters/u,
        how: problem(400, 'This service does not support fetching service binding parameters.'),
      },
      { call: /usage_summary/u, how: problem(403, 'You are not authorized') },
      { call: /organizations/u, how: problem(403, 'You are not authorized') },
    );
    const found = await platform.find(DASHBOARD, signal);
    expect(found.instance).toEqual({ guid: 'si-orders', name: 'orders', space: 'prod' });
    expect(found.apps[0]).not.toHaveProperty('parameters');
  });

  test.for([
    ['refuses to tell', problem(422, 'no')],
    ['tells in words that cannot be read', { status: 200, body: { resources: 'levitating' } }],
  ] as const)('does without the names of spaces and organizations that the platform %s', async ([, how]) => {
    const { capi, platform, app } = await scene();
    capi.faults.push({ call: /spaces\?/u, how }, { call: /organizations/u, how });
    const found = await platform.find(DASHBOARD, signal);
    expect(found.apps).toMatchObject([{ guid: app.guid, name: 'orders-api' }]);
    expect(found.apps[0]).not.toHaveProperty('space');
  });

  test('of an address that nobody has says so', async () => {
    const { platform } = await scene();
    const failure = failureOf(await rejection(platform.find(`${DASHBOARD}9`, signal)));
    expect(failure.code).toBe('platform.not-found');
  });

  test('keeps a hostile name whole for the platform and well formed for the journal', async () => {
    const { platform } = await scene({ app: { name: 'a/../b\u001b[2J\ud800' } });
    const [app] = (await platform.find(DASHBOARD, signal)).apps;
    expect(app?.name).toBe('a/../b\u001b[2J\ufffd');
  });
});

describe('the connection', () => {
  test('gets over a reset, a 500 and a 429 while it reads', async () => {
    const { capi, platform } = await scene();
    const wait = { ...problem(429, 'Rate Limit Exceeded'), headers: { 'retry-after': '0' } };
    capi.faults.push({ call: /service_instances/u, how: 'reset-before' });
    capi.faults.push({ call: /bindings/u, how: problem(500, 'oops') }, { call: /spaces/u, how: wait });
    await platform.find(DASHBOARD, signal);
    expect(capi.faults).toEqual([]);
  });

  test('reads a new token once when the old one is refused, for reads and for changes', async () => {
    const { capi, bound, options } = await scene();
    const tokens = ['bearer old-token-1', TOKEN];
    const reading = await byApi(capi, () => tokens.shift() ?? TOKEN);
    await reading.find(DASHBOARD, signal);
    expect(tokens).toEqual([]);

    let readings = 0;
    const changing = await byApi(capi, () => {
      readings += 1;
      if (readings > 1) capi.token = 'bearer tok-second-22ab';
      return capi.token;
    });
    capi.faults.push({ call: /^DELETE/u, how: problem(401, 'Invalid Auth Token') });
    expect(await changing.unbind(bound, options)).toMatchObject({ outcome: 'done' });
    expect(readings).toBe(2);
    expect(capi.calls.filter((call) => call.startsWith('DELETE'))).toHaveLength(2);
    expect(capi.model.ledger).toEqual(['service_binding.delete']);
  });

  test('says that the token is refused, and sends nothing else', async () => {
    const { capi, bound, options } = await scene();
    const platform = await byApi(capi, () => 'bearer wrong-token-77');
    const failure = failureOf(await rejection(platform.unbind(bound, options)));
    expect(failure.code).toBe('credentials.refused');
    expect(JSON.stringify(failure)).not.toContain('wrong-token-77');
    expect(capi.model.ledger).toEqual([]);
  });

  test('goes nowhere but to the configured address, whatever the answers name', async () => {
    // Next pages and jobs are named with a host of their own by this server; every call arrives here all the
    // same.
    const { capi, platform, bound, options } = await scene();
    await platform.unbind(bound, options);
    expect(capi.calls.some((call) => call.startsWith('GET /v3/jobs/'))).toBe(true);
  });

  test.for(['http://api.example.com', 'ftp://x', 'https://user:pw@api.example.com', 'api.example.com'])(
    'refuses %s as an address, without its password',
    async (api) => {
      const options = { tokenOf: () => async () => new Secret(TOKEN), env: {} };
      const failure = failureOf(await rejection(openPlatform({ platform: { api } }, options)));
      expect(failure.code).toBe('config.platform');
      expect(JSON.stringify(failure)).not.toContain(':pw');
    },
  );

  test('to a platform that is not there is said to be out of reach', async () => {
    const capi = await startCapi();
    const platform = await byApi(capi);
    await capi[Symbol.asyncDispose]();
    onTestFinished(() => platform.close());
    const failure = failureOf(await rejection(platform.find(DASHBOARD, signal)));
    expect(failure.code).toBe('platform.unreachable');
    expect(failure.shortMessage).toContain('platform');
    expect(failure.shortMessage).not.toContain('the service');
  });

  test('is none when the config says so', async () => {
    const options = { tokenOf: () => async () => new Secret(TOKEN), env: {} };
    expect(await openPlatform({ platform: 'none' }, options)).toEqual({
      none: expect.stringContaining('config'),
      chosen: true,
    });
  });
});
