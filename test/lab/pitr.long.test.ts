import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import * as z from 'zod';
import type { Lab } from '../../src/lab/lab.ts';
import { Restore } from '../../src/service/schemas.ts';
import { startTestLab } from '../bench-kit/lab.ts';
import { ask, backUp, call, instanceOf, restoreEnded, until } from './helpers.ts';

const DAY = 86_400_000;

let lab: Lab;
beforeAll(async () => {
  // Without sample data and a first backup: each test makes what it needs.
  const orders = { name: 'orders', backupType: 'continuous_archiving' } as const;
  lab = await startTestLab({ instances: [orders, { name: 'orders-dr' }] });
});
afterAll(() => lab.close());

const Range = z.object({ start_time: z.string(), end_time: z.string() });

async function range() {
  const { json } = await ask(lab, 'GET', `${instanceOf(lab, 'orders').v1}/pitr`);
  const { start_time, end_time } = Range.parse(json);
  return { start: Date.parse(start_time), end: Date.parse(end_time) };
}

/** Restores `orders` to a time, and waits for the end. */
async function restoreTo(target_time: string) {
  const { v1 } = instanceOf(lab, 'orders');
  const { json } = await ask(lab, 'POST', `${v1}/pitr/restore`, { body: { target_time } });
  expect(json).toEqual({ status: expect.stringMatching(/^(queued|running)$/) });
  const listed = z.array(Restore).parse((await ask(lab, 'GET', `${v1}/restores`)).json);
  return await restoreEnded(lab, listed[0]?.id ?? 0);
}

/** Rows that say themselves when they were committed, at least two milliseconds apart. */
async function write(count: number): Promise<void> {
  const { query } = instanceOf(lab, 'orders');
  await query('create table if not exists marks (id int, at timestamptz)');
  const [{ last } = { last: 0 }] = await query<{ last: number }>(
    'select coalesce(max(id), 0)::int as last from marks',
  );
  for (let id = last + 1; id <= last + count; id += 1) {
    await query('insert into marks values ($1, clock_timestamp())', [id]);
    await pause(2);
  }
}

const marks = async () =>
  (
    await instanceOf(lab, 'orders').query<{ id: number; at: Date }>('select id, at from marks order by id')
  ).map(({ id, at }) => ({ id, at: at.getTime() }));

test('a point in time is exact to the row, also in the days that the clock skipped', async () => {
  // The service's time and the database's are weeks apart, and the service runs a thousand times as fast.
  lab.clock.advance(40 * DAY);
  lab.clock.rate(1_000);
  await backUp(lab);
  await write(40);
  lab.clock.rate(1);
  await write(40);
  const { start, end } = await range();
  const rows = await marks();
  const chosen = [rows[20], rows[60]].map((row) => row ?? { id: 0, at: 0 });
  for (const { id, at } of chosen.toReversed()) {
    // The last moment at which the next row was not there yet.
    const real = new Date((rows[id]?.at ?? 0) - 1);
    expect(real.getTime()).toBeGreaterThan(at);
    const target = lab.clock.fromReal(real);
    expect(target.getTime()).toBeGreaterThan(Date.now() + 39 * DAY);
    expect(target.getTime()).toBeGreaterThan(start);
    expect(target.getTime()).toBeLessThan(end);
    const restore = await restoreTo(target.toISOString());
    expect(restore).toMatchObject({
      status: 'done',
      metadata: { restored_from: target.toISOString() },
      backup_id: 1,
    });
    expect((await marks()).at(-1)?.id).toBe(id);
  }
});

test('the edges of the range can be restored to; a moment outside is 422 and changes nothing', async () => {
  await backUp(lab);
  await write(3);
  const { start, end } = await range();
  const { v1 } = instanceOf(lab, 'orders');
  const before = await marks();
  const calls = lab.calls().length;
  for (const at of [start - 1, end + 60_000, 0]) {
    const target_time = new Date(at).toISOString();
    const refused = await ask(lab, 'POST', `${v1}/pitr/restore`, { body: { target_time } });
    expect(refused).toMatchObject({ status: 422, json: { error: 'invalidParameters' } });
  }
  for (const body of [{}, { target_time: 'yesterday' }, { target_time: 5 }, { target_time: '2026-01-01' }]) {
    expect((await ask(lab, 'POST', `${v1}/pitr/restore`, { body })).status).toBe(422);
  }
  expect(lab.calls()).toHaveLength(calls);
  expect(await marks()).toEqual(before);
  // Another zone, and none, which is UTC, name the same moment.
  const inUtc = new Date(end).toISOString();
  const inTokyo = new Date(end + 9 * 3_600_000).toISOString().replace('Z', '+09:00');
  for (const target of [inTokyo, inUtc.replace('Z', '')]) {
    expect(await restoreTo(target)).toMatchObject({ status: 'done', metadata: { restored_from: inUtc } });
  }
  expect(await marks()).toEqual(before);
});

test('an instance without continuous archiving has no range', async () => {
  const { v1 } = instanceOf(lab, 'orders-dr');
  expect((await ask(lab, 'GET', `${v1}/pitr`)).status).toBe(404);
  const body = { target_time: lab.clock.now().toISOString() };
  expect((await ask(lab, 'POST', `${v1}/pitr/restore`, { body })).status).toBe(404);
  expect((await ask(lab, 'GET', `${v1}/backups-config`)).json).toMatchObject({ backup_type: 'standard' });
});

test("after another instance's backup was restored there is no range until the next backup", async () => {
  const [orders, target] = [instanceOf(lab, 'orders'), instanceOf(lab, 'orders-dr')];
  const key = 'a key of the target instance';
  await call(lab, 'PATCH', `${target.v1}/backups-config`, { body: { encryption_key: key } });
  const backup = await backUp(lab, 'orders-dr');
  const { json } = await ask(lab, 'POST', `${orders.v1}/disaster-recovery/perform`, {
    body: { backup_guid: backup.backup_id, encryption_key: key },
  });
  const { restore_id } = z.object({ restore_id: z.int() }).parse(json);
  expect(await restoreEnded(lab, restore_id)).toMatchObject({ status: 'done' });
  expect((await ask(lab, 'GET', `${orders.v1}/pitr`)).status).toBe(404);
  const fresh = await backUp(lab);
  await until('there is a range again', async () =>
    (await call(lab, 'GET', `${orders.v1}/pitr`)).status === 202 ? true : undefined,
  );
  expect((await range()).start).toBeGreaterThanOrEqual(Date.parse(String(fresh.triggered_at)));
});

test('concurrent requests for the range all get an answer', async () => {
  const { v1 } = instanceOf(lab, 'orders');
  const answers = await Promise.all(Array.from({ length: 30 }, () => call(lab, 'GET', `${v1}/pitr`)));
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([202]));
});
