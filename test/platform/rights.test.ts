import { expect, test } from 'vitest';
import { byApi, DASHBOARD, problem, scene } from './world.ts';

const signal = new AbortController().signal;
const LOOKER = 'a-token-that-may-only-look';

test('the platform tells whether its token may manage an instance or only read it', async () => {
  const { capi, platform } = await scene({ capi: { readOnlyToken: LOOKER } });
  expect(await platform.right(DASHBOARD, signal)).toBe('manage');
  const looker = await byApi(capi, () => `bearer ${LOOKER}`);
  expect(await looker.right(`${DASHBOARD}/`, signal)).toBe('read');
  expect(capi.wishes).toEqual([]);
});

test('an instance that the token does not see, or sees twice, is not guessed at', async () => {
  const { capi, platform, land, instance } = await scene();
  expect(await platform.right(`${DASHBOARD}0`, signal)).toBe('unseen');
  land.addInstance({ name: 'twin', space: instance.space, dashboardUrl: DASHBOARD });
  const fresh = await byApi(capi);
  expect(await fresh.right(DASHBOARD, signal)).toBe('unseen');
});

test('an instance is not called read-only because the platform does not report the right', async () => {
  const { platform, faults } = await scene();
  faults.push({ call: /permissions/u, how: problem(404, 'Unknown request') });
  expect(await platform.right(DASHBOARD, signal)).toBe('unsaid');
});

test('a platform that cannot be asked is an error, and not a right', async () => {
  const { platform, faults } = await scene();
  faults.push({ call: /permissions/u, how: problem(401, 'Invalid Auth Token') });
  await expect(platform.right(DASHBOARD, signal)).rejects.toMatchObject({ code: 'credentials.refused' });
});

test('the instances of a platform are listed once for several questions', async () => {
  const { capi, platform } = await scene();
  const from = capi.calls.length;
  await Promise.all([platform.right(DASHBOARD, signal), platform.right(DASHBOARD, signal)]);
  await platform.right(`${DASHBOARD}0`, signal);
  const lists = capi.calls.slice(from).filter((call) => call.startsWith('GET /v3/service_instances?'));
  expect(lists).toHaveLength(1);
});
