import { readdir } from 'node:fs/promises';
import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { openLedger, summary, testEngine, testInstance } from './helpers.ts';

const { engine, folder } = await testEngine();

test('after a kill the server is gone and queries fail; a start brings every commit back', async () => {
  const { data } = await testInstance(engine);
  await openLedger(data);
  await data.query("insert into ledger select n, 'row' from generate_series(1, 500) n");
  const { pid } = data;
  const hanging = data.query('select pg_sleep(600)').then(
    () => 'answered',
    () => 'failed',
  );
  await data.kill();
  expect(await hanging).toBe('failed');
  expect([data.running, data.pid]).toEqual([false, undefined]);
  expect(() => process.kill(pid ?? 0, 0)).toThrow('ESRCH');
  await expect(data.query('select 1')).rejects.toMatchObject({ code: 'lab.down' });
  expect(() => data.baseBackup('none')).toThrow('the database is down');
  await data.kill();
  await data.start();
  await data.start();
  expect(data.pid).not.toBe(pid);
  expect(await summary(data)).toEqual({ rows: 500, last: 500 });
});

test('concurrent stops, starts and restores happen one after the other', async () => {
  const { data, backUp, open } = await testInstance(engine);
  await openLedger(data);
  await backUp('one');
  await data.query("insert into ledger values (1, 'gone')");
  await Promise.all([
    data.stop(),
    data.start(),
    data.restoreBackup(open('one'), 'own'),
    data.kill(),
    data.start(),
  ]);
  expect(data.running).toBe(true);
  expect(await summary(data)).toEqual({ rows: 0, last: 0 });
});

test('a server that died by itself is noticed, and can be restarted', async () => {
  const { data } = await testInstance(engine);
  await openLedger(data);
  process.kill(data.pid ?? 0, 'SIGKILL');
  await expect.poll(() => data.running).toBe(false);
  await expect(data.query('select 1')).rejects.toMatchObject({ code: 'lab.down' });
  await data.start();
  expect(await summary(data)).toEqual({ rows: 0, last: 0 });
});

test('remove ends a restore that would never end, and leaves no file', async () => {
  const { data, folder: archive, backUp } = await testInstance(engine, { archive: true, name: 'removed' });
  await backUp('one');
  await data.range();
  expect(await readdir(archive)).toEqual(['0']);
  const restore = data.restoreBackup(new PassThrough(), 'other');
  const start = data.start();
  const gone = Promise.allSettled([restore, start]);
  await Promise.all([data.remove(), data.remove()]);
  expect((await gone)[0]?.status).toBe('rejected');
  expect((await readdir(folder)).filter((name) => name.endsWith('removed'))).toEqual([]);
  expect(await readdir(archive)).toEqual([]);
  expect(data.running).toBe(false);
});
