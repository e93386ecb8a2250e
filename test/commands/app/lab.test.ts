import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { changeLab, loadLab } from '../../../src/commands/app/load-lab.ts';
import { homeOf } from '../../../src/commands/app/loaders.ts';
import { parseConfig } from '../../../src/config/load.ts';
import type { LoadedConfig } from '../../../src/config/loaded.ts';
import type { Lab } from '../../../src/lab/lab.ts';
import { startTestLab } from '../../bench-kit/lab.ts';

let lab: Lab;
let config: LoadedConfig;
beforeAll(async () => {
  lab = await startTestLab();
  config = parseConfig(lab.configYaml, join(lab.folder, 'lifeboat.yaml'));
});
afterAll(() => lab.close());

const look = () => loadLab(config, new AbortController().signal);
const stateOf = async (name: string) =>
  (await look()).instances.find((instance) => instance.name === name)?.state;

test('the config of a lab names it, and its own token', async () => {
  expect(config.lab).toEqual({ url: lab.url, token: { file: lab.tokenFile } });
});

test('a lab is shown with its instances, clock, settings and scenarios', async () => {
  expect(await look()).toMatchObject({
    place: new URL(lab.url).host,
    playing: undefined,
    faults: [],
    instances: [
      { name: 'orders', state: 'running', backups: 1 },
      { name: 'orders-dr', state: 'running', backups: 0 },
    ],
    clock: { rate: 1, skewSeconds: 0, aheadSeconds: 0 },
    routerSeconds: 900,
    updateBlocking: true,
  });
  expect((await look()).scenarios.map(({ name }) => name)).toContain('lost-answers');
});

test('an instance is lost and comes back, as the lab itself reports', async () => {
  expect(await changeLab(config, { do: 'lose', instance: 'orders' })).toMatch(/^orders is lost/u);
  expect(await stateOf('orders')).toBe('lost');
  expect(await changeLab(config, { do: 'bring-back', instance: 'orders' })).toMatch(/^orders is running/u);
  expect(await stateOf('orders')).toBe('running');
});

test('a scenario plays, its faults are described in words, and they end', async () => {
  expect(await changeLab(config, { do: 'play', scenario: 'lost-answers' })).toContain(
    'lost-answers has begun',
  );
  const { playing, faults } = await look();
  expect(playing).toBe('lost-answers');
  expect(faults).toEqual(['POST: drop, always (when after)']);
  lab.fault({
    method: 'POST',
    path: '/backups',
    instance: 'orders',
    after: 2,
    times: 3,
    effect: { kind: 'refuse' },
  });
  expect((await look()).faults.at(-1)).toBe('POST /backups of orders: refuse, 3 times, after 2 more calls');
  await changeLab(config, { do: 'stop-faults' });
  expect((await look()).faults).toEqual([]);
});

test('the clock moves by the duration that was typed, and a refusal says what is wrong with it', async () => {
  const before = Date.parse((await look()).clock.now);
  expect(await changeLab(config, { do: 'advance', by: '30d' })).toMatch(
    /^the clock of the lab shows .* UTC/u,
  );
  const { clock } = await look();
  expect(Date.parse(clock.now) - before).toBeGreaterThanOrEqual(30 * 86_400_000);
  expect(clock.aheadSeconds).toBe(30 * 86_400);
  await expect(changeLab(config, { do: 'advance', by: 'soon' })).rejects.toMatchObject({
    code: 'lab.refused',
    shortMessage: expect.stringContaining('"soon" is not a duration'),
  });
  expect((await look()).clock.aheadSeconds).toBe(30 * 86_400);
});

test('expired tokens are replaced in their file, and the next look uses the new one', async () => {
  const old = await readFile(lab.tokenFile, 'utf8');
  expect(await changeLab(config, { do: 'expire-tokens' })).toMatch(/holds a new one$/u);
  expect(await readFile(lab.tokenFile, 'utf8')).not.toBe(old);
  expect((await look()).instances).toHaveLength(2);
});

test('changes that the service was asked to make are listed, the newest first', async () => {
  const ask = async (path: string, body: object) =>
    fetch(`${lab.url}/v1/instances/${lab.instances[0]?.guid}${path}`, {
      method: 'PATCH',
      headers: { authorization: await readFile(lab.tokenFile, 'utf8'), 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  await ask('/backups-config', { retention_time: 9 });
  await ask('/backups-config', { retention_time: 8 });
  const { calls, callCount } = await look();
  expect(callCount).toBe(2);
  expect(calls).toMatchObject([
    { instance: 'orders', endpoint: 'PATCH /backups-config', detail: expect.stringContaining('8') },
    { instance: 'orders', endpoint: 'PATCH /backups-config', detail: expect.stringContaining('9') },
  ]);
});

test('an unknown instance and an unknown scenario are refused in words', async () => {
  await expect(changeLab(config, { do: 'lose', instance: '../x' })).rejects.toMatchObject({
    code: 'lab.refused',
    shortMessage: expect.stringContaining('there is no instance ../x'),
  });
  await expect(changeLab(config, { do: 'play', scenario: 'nothing' })).rejects.toMatchObject({
    code: 'lab.refused',
  });
});

test('an instance is deleted, and can then neither be lost nor come back', async () => {
  expect(await changeLab(config, { do: 'delete', instance: 'orders-dr' })).toMatch(/^orders-dr is deleted/u);
  expect(await stateOf('orders-dr')).toBe('deleted');
  for (const what of ['lose', 'bring-back'] as const)
    expect(await changeLab(config, { do: what, instance: 'orders-dr' })).toBe(
      'orders-dr is deleted: it can neither be lost nor come back',
    );
});

test('an instance outside the lab is listed separately, and is a rehearsal or not as its config says', async () => {
  const url = 'https://dashboard.example.com/service-instances/1';
  const instances = { ...config.instances, billing: { ...own('orders'), url, rehearsal: false } };
  const context = { env: { LIFEBOAT_HOME: lab.folder }, configPath: undefined } as never;
  const home = await homeOf(context, { ...config, instances });
  expect(home.lab).toEqual({ place: new URL(lab.url).host, elsewhere: ['billing'] });
  expect(home.instances.map(({ isRehearsal }) => isRehearsal)).toEqual([true, true, false]);
});

test('without a lab in the config there is nothing to show and nothing to change', async () => {
  const { lab: _, ...rest } = config;
  const none = rest as LoadedConfig;
  const signal = new AbortController().signal;
  await expect(loadLab(none, signal)).rejects.toMatchObject({ code: 'lab.none' });
  await expect(changeLab(none, { do: 'lose', instance: 'orders' })).rejects.toMatchObject({
    code: 'lab.none',
  });
  expect(await stateOf('orders')).toBe('running');
});

test('a lab that has ended is reported as ended', async () => {
  const other = await startTestLab({ instances: [{ name: 'one' }] });
  onTestFinished(() => other.close());
  const gone = parseConfig(other.configYaml, join(lab.folder, 'other.yaml'));
  const kept = { ...gone, lab: { url: other.url, token: { file: lab.tokenFile } } };
  await other.close();
  await expect(loadLab(kept, new AbortController().signal)).rejects.toMatchObject({
    code: 'lab.unreachable',
    shortMessage: `no lab answers at ${new URL(other.url).host}: it may have ended`,
  });
});

function own(name: string): LoadedConfig['instances'][string] {
  const found = config.instances[name];
  if (found === undefined) throw new Error(`the lab has no instance ${name}`);
  return found;
}
