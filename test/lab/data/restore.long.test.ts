import { readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { expect, test } from 'vitest';
import type { InstanceData } from '../../../src/lab/data/instance-data.ts';
import { openLedger, summary, testEngine, testInstance } from './helpers.ts';

const { engine } = await testEngine();

async function timelineOf(data: InstanceData): Promise<string> {
  const [row] = await data.query<{ file: string }>('select pg_walfile_name(pg_current_wal_lsn()) as file');
  return row?.file.slice(0, 8) ?? '';
}

test('an own backup is restored on a new timeline each time, and the range continues', async () => {
  const { data, backUp, open } = await testInstance(engine);
  await openLedger(data);
  await data.query("insert into ledger values (1, 'in the backup')");
  await backUp('one');
  await data.query("insert into ledger values (2, 'after it')");
  const before = await data.range();
  const [socketFolder, dataFolder] = [data.socketFolder, data.dataFolder];
  for (const timeline of ['00000002', '00000003']) {
    await data.restoreBackup(open('one'), 'own');
    expect(await timelineOf(data)).toBe(timeline);
    expect(await summary(data)).toEqual({ rows: 1, last: 1 });
  }
  expect(data.socketFolder).toBe(socketFolder);
  expect(data.dataFolder).not.toBe(dataFolder);
  // The old data folders are gone.
  const folders = (await readdir(data.socketFolder)).filter((name) => name.startsWith('data-'));
  expect(folders).toEqual([data.dataFolder.split('/').at(-1)]);
  const after = await data.range();
  expect(after?.start).toEqual(before?.start);
  if (before === undefined) throw new Error('there is no range');
  await data.restoreTo(before.end, open);
  expect(await summary(data)).toEqual({ rows: 2, last: 2 });
  expect(await timelineOf(data)).toBe('00000004');
});

test('an unusable backup changes nothing, and the server keeps running', async () => {
  const { data, backUp } = await testInstance(engine);
  await openLedger(data);
  const tar = await backUp('one');
  await data.query("insert into ledger values (1, 'stays')");
  const { pid, dataFolder } = data;
  const range = await data.range();
  const failing = () => {
    const content = new PassThrough();
    content.write(tar.subarray(0, 100_000));
    setImmediate(() => content.destroy(new Error('bad decrypt')));
    return content;
  };
  const unusable = {
    'a cut tar': () => Readable.from([tar.subarray(0, tar.length / 2)]),
    'a stream that fails': failing,
    'no tar at all': () => Readable.from([Buffer.alloc(4096, 'x')]),
    'an empty stream': () => Readable.from([]),
  };
  for (const [what, contentOf] of Object.entries(unusable)) {
    for (const origin of ['own', 'other'] as const) {
      await expect(data.restoreBackup(contentOf(), origin), what).rejects.toMatchObject({
        code: 'lab.content',
      });
    }
  }
  expect([data.pid, data.dataFolder]).toEqual([pid, dataFolder]);
  expect(await summary(data)).toEqual({ rows: 1, last: 1 });
  expect((await data.range())?.start).toEqual(range?.start);
  expect((await readdir(data.socketFolder)).filter((name) => name.startsWith('data-'))).toEqual(['data-0']);
});

test('if a backup unpacks but does not start, the old server returns with its archive', async () => {
  const { data, backUp, open } = await testInstance(engine);
  await openLedger(data);
  const tar = await backUp('one');
  await data.query("insert into ledger values (1, 'stays')");
  // The control file's name is overwritten, so that the server finds none.
  const broken = Buffer.from(tar);
  const at = broken.indexOf('global/pg_control\0');
  expect(at).toBeGreaterThan(0);
  // Length and place of the name stay; the checksum of the header is the sum of its bytes.
  broken.write('global/pg_contorl', at);
  for (const origin of ['own', 'other'] as const) {
    await expect(data.restoreBackup(Readable.from([broken]), origin)).rejects.toMatchObject({
      code: 'lab.postgres',
    });
    expect(await summary(data)).toEqual({ rows: 1, last: 1 });
    expect(await timelineOf(data)).toBe('00000001');
  }
  await data.query("insert into ledger values (2, 'after the failures')");
  const range = await data.range();
  await data.query("insert into ledger values (3, 'later')");
  if (range === undefined) throw new Error('there is no range');
  await data.restoreTo(range.end, open);
  expect(await summary(data)).toEqual({ rows: 2, last: 2 });
});

test("another instance's backup begins a new archive, and neither writes into the other's", async () => {
  const source = await testInstance(engine, { archive: true, name: 'source' });
  const target = await testInstance(engine, { archive: true, name: 'target' });
  await openLedger(source.data);
  await source.data.query("insert into ledger values (1, 'source')");
  // A setting that lives in the data folder, and so in the backup.
  const trap = join(source.data.socketFolder, 'trap');
  await source.data.query(`alter system set archive_command = 'touch ${trap}'`);
  await source.backUp('one');
  await target.backUp('own');
  await target.data.restoreBackup(source.open('one'), 'other');
  expect(await target.data.range()).toBeUndefined();
  await expect(target.data.restoreTo(new Date(), target.open)).rejects.toMatchObject({ code: 'lab.time' });

  const listed = async () =>
    (await readdir(source.folder, { recursive: true })).filter((name) => name.endsWith('.gz.enc')).sort();
  // Asking for the range waits until all of the log so far is stored.
  await source.data.range();
  const before = await listed();
  await target.backUp('first');
  await target.data.query("insert into ledger values (2, 'target')");
  const range = await target.data.range();
  await target.data.query("insert into ledger values (3, 'target, later')");
  if (range === undefined) throw new Error('there is no range');
  await target.data.restoreTo(range.end, target.open);
  expect(await summary(target.data)).toEqual({ rows: 2, last: 2 });
  expect(await listed()).toEqual(before);
  expect(await readdir(dirname(trap))).not.toContain('trap');
  expect(await summary(source.data)).toEqual({ rows: 1, last: 1 });

  // A backup of its own from before belongs to an archive that is gone.
  await target.data.restoreBackup(target.open('own'), 'own');
  expect(await target.data.range()).toBeUndefined();
  await expect(target.data.query('select * from ledger')).rejects.toThrow(/does not exist/);
});

test('a standard instance is restored from another one, and from its own backup', async () => {
  const source = await testInstance(engine, { archive: true, name: 'source' });
  const target = await testInstance(engine, { archive: false, name: 'target' });
  await openLedger(source.data);
  await source.data.query("insert into ledger values (1, 'source')");
  await source.backUp('one');
  await target.data.restoreBackup(source.open('one'), 'other');
  expect(await summary(target.data)).toEqual({ rows: 1, last: 1 });
  await target.backUp('own');
  await target.data.query('delete from ledger');
  await target.data.restoreBackup(target.open('own'), 'own');
  expect(await summary(target.data)).toEqual({ rows: 1, last: 1 });
  expect(await target.data.range()).toBeUndefined();
});
