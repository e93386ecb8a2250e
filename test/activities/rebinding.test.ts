import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Bound } from '../../machines/parts/recovery-data.ts';
import type { ActivityDeps } from '../../src/activities/deps.ts';
import { findBound } from '../../src/activities/find-bound.ts';
import {
  bindApp,
  proveApp,
  renewServiceKey,
  restageApp,
  unbindApp,
} from '../../src/activities/on-platform.ts';
import type { Platform } from '../../src/platform/platform.ts';
import { byApi, DASHBOARD, scene } from '../platform/world.ts';
import { contextOf } from './world.ts';

const context = contextOf(() => new Date());
const PARAMETERS = { password: 'hunter2-hunter2' };

type Opened = Platform | { readonly none: string };

async function world(apps: ActivityDeps['apps'] = []) {
  const here = await scene({ binding: { name: 'db', parameters: PARAMETERS } });
  const folder = mkdtempSync(join(tmpdir(), 'lifeboat-bound-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const depsOn = (platform: Opened, overrides: Partial<ActivityDeps> = {}) =>
    ({
      name: 'orders',
      apps,
      dashboardUrl: DASHBOARD,
      folder: join(folder, 'backups'),
      platform: async () => platform,
      ...overrides,
    }) as unknown as ActivityDeps;
  return { ...here, folder, depsOn, deps: depsOn(here.platform) };
}

async function bound(deps: ActivityDeps, input: object = {}, target?: ActivityDeps): Promise<Bound> {
  const result = await findBound(deps, target).run({ restored: 'instance', ...input }, context);
  if (!result.ok) throw new Error(result.failure.shortMessage);
  return result.output;
}

describe('finding what is bound', () => {
  test('merges what the config and the platform know, and says where they differ', async () => {
    const { deps, depsOn, platform, land, instance } = await world([
      { name: 'orders-api', space: 'prod' },
      { name: 'batch', space: 'ops', org: 'acme' },
    ]);
    land.addBinding({ instance, app: land.addApp({ name: 'report', space: instance.space }) });
    const found = await bound(deps);
    expect(found).toMatchObject({
      way: 'platform',
      order: 'replace',
      from: { name: 'orders' },
      to: { name: 'orders' },
    });
    const sources = Object.fromEntries(found.apps.map(({ key, from }) => [key, from]));
    expect(sources).toEqual({ 'orders-api': 'both', report: 'platform', batch: 'config' });
    expect(found.notes.join('\n')).toContain('batch is named in the config');
    expect(found.notes.join('\n')).toContain('report is bound at the platform');
    const only = await bound(depsOn(platform), { only: ['report'] });
    expect(only.apps.map(({ key }) => key)).toEqual(['report']);
  });

  test('refuses an unknown name, and lists the known ones', async () => {
    const { deps } = await world();
    const result = await findBound(deps).run({ restored: 'instance', only: ['oders-api'] }, context);
    expect(result).toMatchObject({
      ok: false,
      failure: { code: 'app.unknown', hints: ['known: orders-api'] },
    });
  });

  test('keeps parameters in a private file and nowhere else', async () => {
    const { deps, folder } = await world();
    const found = await bound(deps);
    const file = found.apps[0]?.binding?.parametersFile ?? '';
    expect(file).toBe(join(folder, 'bindings', 'R', 'orders-api.json'));
    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual(PARAMETERS);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(JSON.stringify(found)).not.toContain('hunter2');
  });

  test('does not let a name of the platform lead out of the folder', async () => {
    const { deps, folder, land, instance } = await world();
    const app = land.addApp({ name: '../../../evil', space: instance.space });
    land.addBinding({ instance, app, parameters: { a: 1 } });
    const evil = (await bound(deps)).apps.find(({ name }) => name.includes('evil'));
    expect(evil?.binding?.parametersFile?.startsWith(join(folder, 'bindings', 'R', '_'))).toBe(true);
  });

  test('remembers a binding that is gone by now', async () => {
    const { deps, binding, land } = await world();
    const before = await bound(deps);
    land.bindings = [];
    const after = await bound(deps, { remember: before });
    expect(after.apps[0]?.binding).toEqual(before.apps[0]?.binding);
    expect(after.apps[0]?.binding?.guid).toBe(binding.guid);
  });

  test.for<{ what: string; opened: Opened }>([
    { what: 'there is none', opened: { none: 'the cf tool is not installed' } },
  ])('continues by hand when $what', async ({ opened }) => {
    const { depsOn } = await world([{ name: 'orders-api' }]);
    const found = await bound(depsOn(opened));
    expect(found).toMatchObject({ way: 'hand', apps: [{ key: 'orders-api', from: 'config' }] });
    expect(found.notes).toEqual(['by hand: the cf tool is not installed']);
  });

  test('asks what is bound if neither the config nor a platform says so, even without a platform', async () => {
    const none = { none: 'the config says that there is no platform' };
    const { depsOn } = await world();
    expect(await bound(depsOn(none, { apps: undefined }))).toMatchObject({ apps: [], unasked: true });
    expect(await bound(depsOn(none, { apps: [] }))).not.toHaveProperty('unasked');
    expect(await bound(depsOn(none, { apps: [{ name: 'shop' }] }))).not.toHaveProperty('unasked');
  });

  test('continues by hand if the platform is unreachable or does not show the instance', async () => {
    const { capi, deps, depsOn, platform } = await world([{ name: 'orders-api' }]);
    const elsewhere = await bound(depsOn(platform, { dashboardUrl: `${DASHBOARD}9` }));
    expect(elsewhere.way).toBe('hand');
    await capi.close();
    const unreachable = await bound(deps);
    expect(unreachable.way).toBe('hand');
    expect(unreachable.notes.join()).toContain('by hand: ');
  });

  test('pauses for a new token if the config names the platform', async () => {
    const { capi, depsOn } = await world();
    const refused = await byApi(capi, () => 'bearer wrong-token-77');
    const result = await findBound(depsOn(refused)).run({ restored: 'instance' }, context);
    expect(result).toMatchObject({ ok: false, failure: { code: 'credentials.refused' } });
  });

  test('binds to the target when its data was restored, and to nothing else when there is no such instance', async () => {
    const { deps, depsOn, platform, land, instance } = await world();
    land.addInstance({ name: 'orders-dr', space: instance.space, dashboardUrl: `${DASHBOARD}-dr` });
    const target = depsOn(platform, { name: 'orders-dr', dashboardUrl: `${DASHBOARD}-dr` });
    const found = await bound(deps, { restored: 'target' }, target);
    expect(found).toMatchObject({ from: { name: 'orders' }, to: { name: 'orders-dr' }, order: 'replace' });
    const without = await bound(deps, { restored: 'target' });
    expect(without.to).toBeUndefined();
    expect(without.way).toBe('hand');
  });
});

describe('rebinding by the verbs', () => {
  test('an application is unbound, bound with its name and parameters, restaged and proven', async () => {
    const { deps, to, notBefore, land, instance } = await world();
    land.addBinding({ instance, name: 'ops' });
    const { apps, keys } = await bound(deps);
    const [app] = apps;
    const [key] = keys;
    if (app === undefined || key === undefined) throw new Error('they were not found');
    expect(await proveApp(deps).run({ app, to, notBefore }, context)).toMatchObject({
      ok: false,
      failure: { code: 'app.not-rebound' },
    });
    expect(await unbindApp(deps).run({ app }, context)).toMatchObject({ ok: true });
    const binding = { app, to, notBefore, beside: false };
    expect(await bindApp(deps).run(binding, context)).toMatchObject({ ok: true });
    expect(await restageApp(deps).run({ app, notBefore }, context)).toMatchObject({ ok: true });
    expect(await renewServiceKey(deps).run({ key, to, notBefore }, context)).toMatchObject({ ok: true });
    expect(await proveApp(deps).run({ app, to, notBefore }, context)).toMatchObject({ ok: true });
    expect(land.bindings).toMatchObject([{ name: 'db', parameters: PARAMETERS }, { name: 'ops' }]);
  });

  test.for([
    { what: 'gone', damage: (file: string) => rmSync(file) },
    { what: 'changed', damage: (file: string) => writeFileSync(file, '{}') },
  ])('nothing is bound when the file of parameters is $what', async ({ damage }) => {
    const { deps, to, notBefore, land, did } = await world();
    const [app] = (await bound(deps)).apps;
    if (app === undefined) throw new Error('it was not found');
    land.bindings = [];
    damage(app.binding?.parametersFile ?? '');
    const result = await bindApp(deps).run({ app, to, notBefore, beside: false }, context);
    expect(result).toMatchObject({ ok: false, failure: { code: 'binding.parameters-lost' } });
    expect(did()).toEqual([]);
  });

  test('without a platform, a step says that it is done by hand', async () => {
    const { depsOn, bound } = await world();
    const result = await unbindApp(depsOn({ none: 'no platform' })).run({ app: bound }, context);
    expect(result).toMatchObject({
      ok: false,
      failure: { code: 'platform.none', shortMessage: 'no platform' },
    });
  });
});
