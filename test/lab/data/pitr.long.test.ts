import { expect, test } from 'vitest';
import { openLedger, summary, testEngine, testInstance } from './helpers.ts';

const { engine } = await testEngine();

test('a time outside the range is refused, and the instance is unchanged', async () => {
  const { data, backUp, open } = await testInstance(engine);
  await openLedger(data);
  await backUp('one');
  await data.query("insert into ledger values (1, 'kept')");
  const { pid } = data;
  const range = await data.range();
  if (range === undefined) throw new Error('there is no range');
  const outside = [new Date(range.start.getTime() - 1), new Date(Date.now() + 60_000)];
  for (const time of outside) {
    await expect(data.restoreTo(time, open)).rejects.toMatchObject({
      code: 'lab.time',
      evidence: { start: range.start.toISOString() },
    });
  }
  expect(data.pid).toBe(pid);
  expect(await summary(data)).toEqual({ rows: 1, last: 1 });
});

test('the end of the range can be restored to, even if nothing was written since', async () => {
  const { data, backUp, open } = await testInstance(engine);
  await openLedger(data);
  await data.query("insert into ledger values (1, 'before')");
  await backUp('one');
  for (let id = 2; id < 6; id += 1) {
    await data.query("insert into ledger values ($1, 'after')", [id]);
    const range = await data.range();
    if (range === undefined) throw new Error('there is no range');
    await data.restoreTo(range.end, open);
    // The row was committed before the range was asked for.
    expect(await summary(data)).toEqual({ rows: id, last: id });
  }
});

test('after two restores every timeline can still be restored to, abandoned ones too', async () => {
  const { data, backUp, open } = await testInstance(engine);
  const mark = async (id: number) => {
    await data.query("insert into ledger values ($1, 'mark')", [id]);
    const range = await data.range();
    if (range === undefined) throw new Error('there is no range');
    return range.end;
  };
  const ids = async () =>
    (await data.query<{ id: number }>('select id from ledger order by id')).map((row) => row.id);
  await openLedger(data);
  await backUp('one');
  const first = await mark(1);
  const second = await mark(2);
  await data.restoreTo(first, open);
  expect(await ids()).toEqual([1]);
  const third = await mark(3);
  await backUp('two');
  const fourth = await mark(4);
  await data.restoreTo(third, open);
  expect(await ids()).toEqual([1, 3]);
  const fifth = await mark(5);

  for (const [time, there] of [
    [second, [1, 2]],
    [fourth, [1, 3, 4]],
    [fifth, [1, 3, 5]],
    [first, [1]],
    [third, [1, 3]],
  ] as const) {
    await data.restoreTo(time, open);
    expect(await ids()).toEqual(there);
  }
});

test('a restore brings back the state of its moment, even if the server was killed', async () => {
  const { data, backUp, open } = await testInstance(engine);
  await openLedger(data);
  const tar = await backUp('one');
  await data.range();
  await data.query("insert into ledger values (1, 'not archived yet')");
  await data.kill();
  const quiet = new Date(Date.now() + 1);
  await data.restoreBackup(open('one'), 'own');
  expect(tar.length).toBeGreaterThan(0);
  expect(await summary(data)).toEqual({ rows: 0, last: 0 });
  await data.restoreTo(quiet, open);
  expect(await summary(data)).toEqual({ rows: 1, last: 1 });
});

test('without a base backup, or when its only one is gone, there is no range', async () => {
  const { data, backUp, open } = await testInstance(engine);
  expect(await data.range()).toBeUndefined();
  await expect(data.restoreTo(new Date(), open)).rejects.toMatchObject({ code: 'lab.time' });
  await backUp('one');
  expect(await data.range()).toBeDefined();
  await data.forgetBackup('one');
  expect(await data.range()).toBeUndefined();
  await data.forgetBackup('one');
});

test('fifty concurrent requests for the range all get one that covers what they wrote', async () => {
  const { data, backUp, open } = await testInstance(engine);
  await openLedger(data);
  await backUp('one');
  const ranges = await Promise.all(
    Array.from({ length: 50 }, async (_, id) => {
      await data.query("insert into ledger values ($1, 'asked')", [id]);
      const written = Date.now();
      return { written, range: await data.range() };
    }),
  );
  for (const { written, range } of ranges) {
    expect(range?.end.getTime()).toBeGreaterThanOrEqual(written);
  }
  const last = Math.max(...ranges.map(({ range }) => range?.end.getTime() ?? 0));
  await data.restoreTo(new Date(last), open);
  expect(await summary(data)).toEqual({ rows: 50, last: 49 });
});

test('an instance without archiving has no range', async () => {
  const { data, backUp, open } = await testInstance(engine, { archive: false });
  await backUp('one');
  expect(data.archiving).toBe(false);
  expect(await data.range()).toBeUndefined();
  await expect(data.restoreTo(new Date(), open)).rejects.toMatchObject({ code: 'lab.archive' });
});
