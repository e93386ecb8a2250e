import { spawnSync } from 'node:child_process';
import { copyFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, onTestFinished, test } from 'vitest';
import { networkFileSystem } from '../../src/store/folders.ts';
import { openForReading } from '../../src/store/open-for-reading.ts';
import { openDatabase, pragma, refuseOldSqlite } from '../../src/store/sqlite-database.ts';
import { openSqliteJournal } from '../../src/store/sqlite-journal.ts';
import { journalContract } from './contract.ts';
import { temporaryHome } from './temporary-home.ts';

journalContract('the SQLite store', () => {
  const home = temporaryHome();
  return { open: () => openSqliteJournal({ home, by: 'tester' }) };
});

const note = { stream: 'run/a', type: 'note', body: { text: 'x'.repeat(400) } } as const;

const openIn = async (home: string) => {
  const journal = await openSqliteJournal({
    home,
    by: 'tester',
    now: () => new Date('2026-01-02T03:04:05.678Z'),
  });
  onTestFinished(() => journal.close());
  return journal;
};

describe('the SQLite store', () => {
  test('the folder and its files belong to their owner only', async () => {
    const home = join(temporaryHome(), 'deep', 'home');
    const journal = await openIn(home);
    await journal.append([note]);
    await journal.hold('run/a');
    const mode = (path: string) => (statSync(join(home, path)).mode & 0o777).toString(8);
    expect(mode('.')).toBe('700');
    for (const file of [
      'lifeboat.db',
      'lifeboat.db-wal',
      'lifeboat.db-shm',
      'locks/run-a.lock.db',
      'locks/run-a.lock.json',
    ]) {
      expect([file, mode(file)]).toEqual([file, '600']);
    }
    expect(mode('locks')).toBe('700');
  });

  test('time and author stand in every entry', async () => {
    const journal = await openIn(temporaryHome());
    expect(await journal.append([note])).toMatchObject([{ at: '2026-01-02T03:04:05.678Z', by: 'tester' }]);
  });

  test('a connection that knows nothing of lifeboat finds a sound WAL database', async () => {
    const home = temporaryHome();
    const journal = await openSqliteJournal({ home, by: 'tester' });
    await journal.append([note, note]);
    await journal.close();
    const db = databaseIn(home);
    expect(db.prepare('PRAGMA journal_mode').get()).toEqual({ journal_mode: 'wal' });
    expect(db.prepare('PRAGMA integrity_check').all()).toEqual([{ integrity_check: 'ok' }]);
    expect(db.prepare('SELECT count(*) AS n FROM entries').get()).toEqual({ n: 2 });
  });

  test('every commit is synced to the disk before the append resolves', () => {
    const db = openDatabase(temporaryHome());
    onTestFinished(() => db.close());
    expect(
      ['synchronous', 'fullfsync', 'checkpoint_fullfsync', 'busy_timeout'].map((name) => pragma(db, name)),
    ).toEqual([2, 1, 1, 5000]);
  });

  test('entries cannot be changed or deleted by accident with a database tool', async () => {
    const home = temporaryHome();
    const journal = await openIn(home);
    await journal.append([note]);
    const db = databaseIn(home);
    for (const sql of ["UPDATE entries SET type='x'", 'DELETE FROM entries']) {
      expect(() => db.exec(sql)).toThrow('the journal is append-only');
    }
  });

  test('two processes that create the journal at the same moment both get it', async () => {
    const home = temporaryHome();
    const both = await Promise.all([openIn(home), openIn(home)]);
    for (const journal of both) await journal.append([note]);
    expect(await both[0].read('run/a')).toHaveLength(2);
  });

  test('a reader sees what a live writer has written, and cannot create a journal', async () => {
    const home = temporaryHome();
    await expect(openForReading({ home })).rejects.toMatchObject({ code: 'journal.none' });
    expect(statSync(join(home, 'lifeboat.db'), { throwIfNoEntry: false })).toBeUndefined();
    const writer = await openIn(home);
    const reader = await openForReading({ home });
    onTestFinished(() => reader.close());
    const [entry] = await writer.append([note]);
    expect(await reader.read('run/a')).toEqual([entry]);
    expect(await reader.streams('run/')).toEqual([await writer.head('run/a')]);
    await writer.append([note]);
    expect((await reader.head('run/a')).seq).toBe(2);
  });

  test('a full disk loses the journal loudly, keeps what was acknowledged and no half append', async () => {
    const home = temporaryHome();
    // The limit on file sizes makes the kernel refuse the write, as a full disk does.
    const limited = spawnSync('bash', [
      '-c',
      'ulimit -f 200; exec "$0" "$@"',
      process.execPath,
      APPENDER,
      home,
      '3',
    ]);
    const [acknowledged, failure, again] = limited.stdout
      .toString()
      .trim()
      .split('\n')
      .slice(-3)
      .map((line) => JSON.parse(line));
    expect(failure).toMatchObject({
      code: 'journal.lost',
      shortMessage: 'the journal could not be written to the disk: the disk reports an error',
    });
    expect(again).toMatchObject({ code: 'journal.lost' });
    const journal = await openIn(home);
    expect(await journal.head('run/a')).toMatchObject({ seq: acknowledged.seq });
    expect(acknowledged.seq % 3).toBe(0);
    expect(acknowledged.seq).toBeGreaterThan(0);
  });

  test.each(['lifeboat.db', 'lifeboat.db-wal'])(
    'deleting %s under a live run is noticed at the next append',
    async (file) => {
      const home = temporaryHome();
      const journal = await openIn(home);
      await journal.append([note]);
      rmSync(join(home, file));
      await expect(journal.append([note])).rejects.toMatchObject({ code: 'journal.lost' });
      await expect(journal.append([note])).rejects.toMatchObject({ code: 'journal.lost' });
    },
  );

  test('a database that was replaced under a live run is noticed too', async () => {
    const home = temporaryHome();
    const journal = await openIn(home);
    await journal.append([note]);
    copyFileSync(join(home, 'lifeboat.db'), join(home, 'copy'));
    renameSync(join(home, 'copy'), join(home, 'lifeboat.db'));
    await expect(journal.append([note])).rejects.toMatchObject({ code: 'journal.lost' });
  });

  test('a journal of a newer format is refused with a way out', async () => {
    const home = temporaryHome();
    await (await openSqliteJournal({ home, by: 'tester' })).close();
    databaseIn(home).exec('PRAGMA user_version=2');
    await expect(openSqliteJournal({ home, by: 'tester' })).rejects.toMatchObject({
      code: 'journal.version',
      hints: ['use the version of lifeboat that wrote it, or a newer one'],
    });
    await expect(openForReading({ home })).rejects.toMatchObject({ code: 'journal.version' });
  });

  test('a file that is no database is told apart and left alone', async () => {
    const home = temporaryHome();
    writeFileSync(join(home, 'lifeboat.db'), 'x'.repeat(5000));
    await expect(openSqliteJournal({ home, by: 'tester' })).rejects.toMatchObject({
      code: 'journal.damaged',
    });
    await expect(openForReading({ home })).rejects.toMatchObject({ code: 'journal.damaged' });
    expect(statSync(join(home, 'lifeboat.db')).size).toBe(5000);
  });

  test.each([
    ['3.50.4', false],
    ['3.51.2', false],
    ['3.51.3', true],
    ['3.53.4', true],
    ['4.0.0', true],
    [undefined, false],
  ])('SQLite %s is fit for a journal: %s', (version, fit) => {
    const look = () => refuseOldSqlite(version);
    if (fit) expect(look).not.toThrow();
    else expect(look).toThrow('can damage a journal');
  });

  test.each([
    [0x6969, 'NFS'],
    [0xff534d42 | 0, 'CIFS'],
    [0xef53, undefined],
  ])('a folder on file system %i is %s', (type, kind) => {
    expect(networkFileSystem(type)).toBe(kind);
  });
});

const APPENDER = join(import.meta.dirname, 'appender.ts');

function databaseIn(home: string): DatabaseSync {
  const db = new DatabaseSync(join(home, 'lifeboat.db'));
  onTestFinished(() => db.close());
  return db;
}
