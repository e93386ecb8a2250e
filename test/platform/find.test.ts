import { describe, expect, onTestFinished, test } from 'vitest';
import { failureOf } from '../../src/base/errors.ts';
import { Secret } from '../../src/base/secret.ts';
import { openPlatform } from '../../src/platform/open.ts';
import { startForeignCapi } from '../bench-kit/foreign/capi.ts';
import { refusal } from '../bench-kit/foreign/capi-words.ts';
import { rejection } from '../service/serve.ts';
import { byApi, DASHBOARD, LOST, problem, scene, TOKEN } from './world.ts';

const signal = new AbortController().signal;

describe('finding', () => {
  test('reads every page, and gives names, places, states, keys and parameters', async () => {
    const { capi, platform, to, land, instance } = await scene();
    for (const number of [2, 3, 4, 5]) {
      const app = land.addApp({ name: `app-${number}`, space: instance.space, state: 'STOPPED' });
      land.addBinding({ app, instance, name: `n${number}`, parameters: { number } });
    }
    for (const name of ['a', 'b', 'c', 'd'])
      land.addInstance({ name, space: instance.space, dashboardUrl: `${DASHBOARD}0${name}` });
    land.addBinding({ instance, name: 'ops' });
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

  test('reports applications in spaces that the token does not see', async () => {
    const { platform, land, instance } = await scene();
    const hidden = land.addSpace('hidden', 'acme', false);
    instance.sharedInto.push(hidden, instance.space);
    for (const name of ['one', 'other'])
      land.addBinding({ instance, app: land.addApp({ name, space: hidden }) });
    expect((await platform.find(DASHBOARD, signal)).unseen).toEqual([{ space: hidden.guid, apps: 2 }]);
  });

  test('learns that two bindings are allowed from the platform, or from an application that has two', async () => {
    const { platform, app, instance, land } = await scene();
    land.custom = { max_service_credential_bindings_per_app_service_instance: 2 };
    expect((await platform.find(DASHBOARD, signal)).allowsTwoBindings).toBe(true);
    land.custom = {};
    land.addBinding({ app, instance });
    const found = await platform.find(DASHBOARD, signal);
    expect(found).toMatchObject({ allowsTwoBindings: true });
    expect(found.apps).toHaveLength(1);
  });

  test('works without what the platform does not report: parameters, usage, names', async () => {
    const { platform, to, faults } = await scene();
    faults.push(
      {
        call: /parameters/u,
        how: problem(400, 'This service does not support fetching service binding parameters.'),
      },
      { call: /usage_summary/u, how: problem(403, 'You are not authorized') },
      { call: /organizations/u, how: problem(403, 'You are not authorized') },
    );
    const found = await platform.find(DASHBOARD, signal);
    expect(found.instance).toEqual({ guid: to.guid, name: 'orders', space: 'prod' });
    expect(found.apps[0]).not.toHaveProperty('parameters');
  });

  test.for([
    ['refuses to give', problem(422, 'no')],
    ['gives in an unreadable form', { answer: { status: 200, json: { resources: 'levitating' } } }],
  ] as const)('works without the names of spaces and organizations that the platform %s', async ([, how]) => {
    const { platform, app, faults } = await scene();
    faults.push({ call: /\/spaces$/u, how }, { call: /organizations/u, how });
    const found = await platform.find(DASHBOARD, signal);
    expect(found.apps).toMatchObject([{ guid: app.guid, name: 'orders-api' }]);
    expect(found.apps[0]).not.toHaveProperty('space');
  });

  test('reports an unknown address', async () => {
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
  test('survives a reset, a 500 and a 429 while it reads', async () => {
    const { platform, faults } = await scene();
    const wait = {
      answer: {
        ...refusal(429, 10_013, 'CF-RateLimitExceeded', 'Rate Limit Exceeded'),
        headers: { 'retry-after': '0' },
      },
    };
    faults.push({ call: /service_instances/u, how: LOST['reset-before'] });
    faults.push({ call: /bindings/u, how: problem(500, 'oops') }, { call: /spaces/u, how: wait });
    await platform.find(DASHBOARD, signal);
    expect(faults).toEqual([]);
  });

  test('reads a new token once when the old one is refused, for reads and for changes', async () => {
    const { capi, bound, options, faults, did } = await scene();
    const tokens = ['bearer old-token-1', TOKEN];
    const reading = await byApi(capi, () => tokens.shift() ?? TOKEN);
    await reading.find(DASHBOARD, signal);
    expect(tokens).toEqual([]);

    let readings = 0;
    const changing = await byApi(capi, () => {
      readings += 1;
      if (readings === 1) return TOKEN;
      capi.acceptOnly('tok-second-22ab');
      return 'bearer tok-second-22ab';
    });
    faults.push({ call: /^DELETE/u, how: problem(401, 'Invalid Auth Token') });
    expect(await changing.unbind(bound, options)).toMatchObject({ outcome: 'done' });
    expect(readings).toBe(2);
    expect(capi.calls.filter((call) => call.startsWith('DELETE'))).toHaveLength(2);
    expect(did()).toEqual(['DELETE /v3/service_credential_bindings/:guid']);
  });

  test('reports that the token is refused, and sends nothing else', async () => {
    const { capi, bound, options, did } = await scene();
    const platform = await byApi(capi, () => 'bearer wrong-token-77');
    const failure = failureOf(await rejection(platform.unbind(bound, options)));
    expect(failure.code).toBe('credentials.refused');
    expect(JSON.stringify(failure)).not.toContain('wrong-token-77');
    expect(did()).toEqual([]);
  });

  test('goes only to the configured address, whatever addresses the answers contain', async () => {
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

  test('to a missing platform is reported as unreachable', async () => {
    const capi = await startForeignCapi({ token: 'tok-8d2f61ac90' });
    const platform = await byApi(capi);
    await capi.close();
    onTestFinished(() => platform.close());
    const failure = failureOf(await rejection(platform.find(DASHBOARD, signal)));
    expect(failure.code).toBe('platform.unreachable');
    expect(failure.shortMessage).toContain('platform');
    expect(failure.shortMessage).not.toContain('the service');
  });

  test('does not exist when the config says so', async () => {
    const options = { tokenOf: () => async () => new Secret(TOKEN), env: {} };
    expect(await openPlatform({ platform: 'none' }, options)).toEqual({
      by: 'config',
      none: expect.stringContaining('config'),
    });
  });
});
