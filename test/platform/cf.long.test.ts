import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { failureOf } from '../../src/base/errors.ts';
import { openPlatform } from '../../src/platform/open.ts';
import { installCf } from '../bench-kit/install-cf.ts';
import { rejection } from '../service/serve.ts';
import { DASHBOARD, PACE, scene, TOKEN } from './world.ts';

interface Note {
  readonly word: string;
  readonly args: readonly string[];
  readonly target: string;
  readonly sees: string | null;
}

/** The scene of the API, reached through a tool `cf` that is logged in and points at another space. */
async function cfScene(
  options: { readonly loggedIn?: boolean; readonly installed?: boolean; readonly unchecked?: boolean } = {},
) {
  const world = await scene();
  const folder = mkdtempSync(join(tmpdir(), 'lifeboat-fake-cf-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const log = join(folder, 'log');
  writeFileSync(log, '');
  const login = {
    Target: world.capi.url,
    AccessToken: options.loggedIn === false ? '' : TOKEN,
    Log: log,
    OrganizationFields: { Name: 'my-own-org' },
    SpaceFields: { Name: 'my-own-space' },
    SSLDisabled: options.unchecked === true,
  };
  const { bin, config } = installCf(folder, login);
  const env = {
    PATH: options.installed === false ? folder : bin,
    HOME: folder,
    SECRET_OF_ANOTHER: 'tok-of-another',
  };
  const opened = await openPlatform(
    { platform: 'cf' },
    {
      tokenOf: () => () => Promise.reject(new Error('the token is that of the tool')),
      env,
      hideEnv: ['SECRET_OF_ANOTHER'],
      pace: { ...PACE, startupMs: 5_000 },
    },
  );
  const notes = () =>
    readFileSync(log, 'utf8')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as Note);
  const untouched = () => readFileSync(config, 'utf8') === JSON.stringify(login);
  return { ...world, opened, notes, untouched, config, login };
}

async function working() {
  const world = await cfScene();
  const { opened } = world;
  if ('none' in opened) throw new Error(opened.none);
  onTestFinished(opened.close);
  return { ...world, cf: opened };
}

test('a whole rebinding by the login of the tool, in the right space, without touching the user’s own target', async () => {
  const { cf, bound, to, options, notes, untouched, land, did } = await working();
  const found = await cf.find(DASHBOARD, options.signal);
  expect(found.apps).toMatchObject([{ name: 'orders-api', space: 'prod', org: 'acme' }]);
  expect(await cf.unbind(bound, options)).toMatchObject({ outcome: 'done' });
  expect(await cf.unbind(bound, options)).toMatchObject({ outcome: 'already' });
  const parameters = { password: 'hunter2-hunter2' };
  const binding = { ...options, parameters, beside: false };
  expect(await cf.bind(bound, to, binding)).toMatchObject({ outcome: 'done' });
  expect(await cf.bind(bound, to, binding)).toMatchObject({ outcome: 'already' });
  expect(await cf.restage(bound, options)).toMatchObject({ outcome: 'done' });
  expect(await cf.restage(bound, options)).toMatchObject({ outcome: 'already' });
  expect(await cf.prove(bound, to, options)).toMatchObject({ outcome: 'done' });

  expect(land.bindings[0]?.parameters).toEqual(parameters);
  expect(did()).toEqual([
    'DELETE /v3/service_credential_bindings/:guid',
    'POST /v3/service_credential_bindings',
    'POST /v3/builds',
    'POST /v3/deployments',
  ]);
  expect(new Set(notes().map(({ word }) => word))).toEqual(new Set(['oauth-token']));
  expect(JSON.stringify(notes())).not.toContain('hunter2');
  expect(notes().every(({ sees }) => sees === null)).toBe(true);
  expect(untouched()).toBe(true);
});

test('an application does not count as bound again where the platform allows one binding only', async () => {
  const { cf, bound, to, options, did } = await working();
  const binding = { ...options, parameters: undefined, beside: true };
  const failure = failureOf(await rejection(cf.bind(bound, to, binding)));
  expect(failure.code).toBe('platform.bound');
  expect(did()).toEqual([]);
});

test('a service key is recreated once', async () => {
  const { cf, to, options, land, did, instance } = await working();
  land.addBinding({ instance, name: 'ops' });
  expect(await cf.renewKey({ name: 'ops' }, to, options)).toMatchObject({ outcome: 'done' });
  expect(await cf.renewKey({ name: 'ops' }, to, options)).toMatchObject({ outcome: 'already' });
  expect(did()).toEqual([
    'DELETE /v3/service_credential_bindings/:guid',
    'POST /v3/service_credential_bindings',
  ]);
});

test('the error of the platform is passed on, cleaned', async () => {
  const { cf, bound, options, faults } = await working();
  faults.push({ call: /^DELETE/u, how: { fails: 'role owns objects \u001b[31m' } });
  const failure = failureOf(await rejection(cf.unbind(bound, options)));
  expect(failure.code).toBe('platform.failed');
  expect(failure.shortMessage).toContain('role owns objects \ufffd[31m');
});

test('an application whose name looks like an option of the tool is unbound like any other', async () => {
  const { cf, options, land, did, instance } = await working();
  const app = land.addApp({ name: '-f', space: instance.space });
  const binding = land.addBinding({ app, instance, createdAt: Date.now() });
  const bound = {
    key: '-f',
    name: '-f',
    guid: app.guid,
    from: 'platform' as const,
    binding: { guid: binding.guid },
  };
  expect(await cf.unbind(bound, options)).toMatchObject({ outcome: 'done' });
  expect(did()).toEqual(['DELETE /v3/service_credential_bindings/:guid']);
});

test('a new login of the tool is used once the platform refuses the old token', async () => {
  const { cf, capi, bound, options, config, login, did } = await working();
  await cf.find(DASHBOARD, options.signal);
  capi.acceptOnly('tok-second-22ab');
  writeFileSync(config, JSON.stringify({ ...login, AccessToken: 'bearer tok-second-22ab' }));
  expect(await cf.unbind(bound, options)).toMatchObject({ outcome: 'done' });
  expect(did()).toEqual(['DELETE /v3/service_credential_bindings/:guid']);
});

test.for([
  { change: { AccessToken: '' }, words: 'not logged in' },
  { change: { Target: 'https://api.elsewhere.example' }, words: 'another platform' },
])('a tool that is $words later gives no token, and nothing is sent', async ({ change, words }) => {
  const { cf, capi, bound, options, config, login } = await working();
  writeFileSync(config, JSON.stringify({ ...login, ...change }));
  const failure = failureOf(await rejection(cf.unbind(bound, options)));
  expect(failure.code).toBe('credentials.refused');
  expect(failure.shortMessage).toContain(words);
  expect(capi.calls).toEqual([]);
});

test.for([
  { loggedIn: false, installed: true, words: 'not logged in' },
  { loggedIn: true, installed: false, words: 'not installed' },
  { loggedIn: true, installed: true, unchecked: true, words: 'told not to check certificates' },
])(
  'there is no platform when the tool is $words, and no copy of the login stays',
  async ({ words, ...options }) => {
    const temporary = mkdtempSync(join(tmpdir(), 'lifeboat-tmp-'));
    vi.stubEnv('TMPDIR', temporary);
    onTestFinished(() => {
      vi.unstubAllEnvs();
      rmSync(temporary, { recursive: true, force: true });
    });
    const { opened } = await cfScene(options);
    expect(opened).toEqual({ none: expect.stringContaining(words) });
    expect(readdirSync(temporary).filter((name) => name.startsWith('lifeboat-cf-'))).toEqual([]);
  },
);
