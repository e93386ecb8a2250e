import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Lab } from '../../src/lab/lab.ts';
import { parseScenario } from '../../src/lab/scenarios/scenario.ts';
import { startTestLab } from '../bench-kit/lab.ts';
import { backupEnded, call, instanceOf, listBackups, until } from './helpers.ts';

let lab: Lab;
beforeAll(async () => {
  lab = await startTestLab({ sso: false });
});
afterAll(() => lab.close());

const play = async (body: object) => {
  expect(await call(lab, 'POST', '/lab/scenario', { body })).toMatchObject({ status: 200 });
};
const overview = (name: 'orders' | 'orders-dr') => call(lab, 'GET', instanceOf(lab, name).v1);
const last = async (name: 'orders' | 'orders-dr') => (await listBackups(lab, name))[0]?.id ?? 0;
const createBackup = (name: 'orders' | 'orders-dr' = 'orders') =>
  call(lab, 'POST', `${instanceOf(lab, name).v1}/backups`);

test('a lab can begin with a scenario, and does not start if it cannot be played', async () => {
  const scenario = parseScenario(
    {
      name: 'mine',
      summary: 'Mine.',
      settings: { clockSkew: '-2h' },
      faults: [{ path: '/', effect: { kind: 'answer', status: 503, when: 'before' } }],
    },
    'test',
  );
  const instances = [{ name: 'orders' }];
  const other = await startTestLab({ instances, scenario });
  try {
    expect((await call(other, 'GET', '/lab')).json).toMatchObject({
      scenario: 'mine',
      faults: [{ path: '/' }],
    });
    expect((await call(other, 'GET', '/lab/clock')).json).toMatchObject({ skewMs: -7_200_000 });
    expect((await call(other, 'GET', instanceOf(other, 'orders').v1)).status).toBe(503);
  } finally {
    await other.close();
  }
  const timeline = [{ do: 'lose' as const, after: 0, instance: 'nowhere' }];
  await expect(startTestLab({ instances, scenario: { ...scenario, timeline } })).rejects.toMatchObject({
    code: 'lab.scenario',
    shortMessage: 'there is no instance nowhere',
  });
});

test('the steps of a timeline happen in the order of their times, and end with the scenario', async () => {
  const clock = async () => (await call(lab, 'GET', '/lab/clock')).json as { rate: number; skewMs: number };
  const answers = (name: 'orders' | 'orders-dr', wanted: number) =>
    until(`${name} answers ${wanted}`, async () =>
      (await overview(name)).status === wanted ? true : undefined,
    );
  const fault = {
    instance: 'orders',
    path: '/',
    times: 'always',
    effect: { kind: 'answer', status: 503, when: 'before' },
  };
  await play({
    name: 'into-trouble',
    summary: 'Everything goes wrong, quickly.',
    settings: { backupEvery: '1d', clockRate: 2 },
    timeline: [
      { after: '300ms', do: 'fault', fault },
      { after: '200ms', do: 'skew', by: '-1h' },
      { after: '100ms', do: 'lose', instance: 'orders-dr' },
      { do: 'advance', by: '2d' },
      { after: '1h', do: 'lose', instance: 'orders' },
    ],
  });
  await answers('orders', 503);
  // Whatever was to come before has come.
  expect((await overview('orders-dr')).status).toBe(502);
  expect(await clock()).toMatchObject({ rate: 2, skewMs: -3_600_000 });
  // Two days in one jump are one turn of the schedule.
  expect((await listBackups(lab)).map(({ id }) => id)).toEqual([2, 1]);

  await play({
    name: 'out-of-trouble',
    summary: 'And is well again.',
    timeline: [
      { do: 'fault', fault },
      { after: '1s', do: 'bring-back', instance: 'orders-dr' },
      { after: '1s', do: 'clear' },
    ],
  });
  await answers('orders', 503);
  await answers('orders', 200);
  await answers('orders-dr', 200);
  expect(await clock()).toMatchObject({ rate: 1, skewMs: 0 });
  await call(lab, 'POST', '/lab/clock', { body: { advance: '3d' } });
  expect((await listBackups(lab)).map(({ id }) => id)).toEqual([2, 1]);
});

test('held tasks continue when a step releases them, and faults stay', async () => {
  const held = {
    times: 'always',
    method: 'POST',
    path: '/backups',
    effect: { kind: 'task', outcome: 'queued' },
  };
  const [here, there] = [await last('orders'), await last('orders-dr')];
  await play({
    name: 'released',
    summary: 'Help comes late.',
    faults: [held],
    timeline: [
      { do: 'backup', instance: 'orders-dr' },
      { after: '1s', do: 'release' },
    ],
  });
  await createBackup();
  expect(await backupEnded(lab, there + 1, 'orders-dr')).toMatchObject({ status: 'done' });
  expect(await backupEnded(lab, here + 1)).toMatchObject({ status: 'done' });
  expect((await call(lab, 'GET', '/lab/faults')).json).toMatchObject({ faults: [held] });
});

test('a timeline that is ended takes no further step, and its effects stay', async () => {
  await play({
    name: 'left-early',
    summary: 'Somebody stops it.',
    timeline: [
      { do: 'lose', instance: 'orders-dr' },
      { after: '1h', do: 'lose', instance: 'orders' },
    ],
  });
  await until('the first step has happened', async () =>
    (await overview('orders-dr')).status === 502 ? true : undefined,
  );
  // It would last an hour.
  await lab.endTimeline();
  expect((await overview('orders-dr')).status).toBe(502);
  await lab.disaster('orders-dr', false);
});
