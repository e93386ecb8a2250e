import { spawnSync } from 'node:child_process';
import { copyFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, onTestFinished, test } from 'vitest';
import { hashOf } from '../../src/store/canonical.ts';
import type { NewEntry } from '../../src/store/journal.ts';
import {
  assertSqliteVersion,
  networkFileSystem,
  openDatabase,
  pragma,
  SCHEMA,
} from '../../src/store/sqlite/database.ts';

import { storeContract } from './contract.ts';
import { openIn, readIn } from './open-in.ts';
import { sqliteStore, tampered } from './sqlite-store.ts';
import { temporaryHome } from './temporary-home.ts';

storeContract('SQLite', sqliteStore);

const note = { stream: 'run/a', type: 'note', body: { text: 'x'.repeat(400) } } as const;

/** A writer that holds `run/a`. */
const writerIn = async (home: string) => {
  const journal = await openIn(home, { now: () => new Date('2026-01-02T03:04:05.678Z') });
  onTestFinished(() => journal.close());
  const holds = [await journal.hold('run/a')];
  return { journal, append: (...entries: readonly NewEntry[]) => journal.append(entries, holds) };
};

describe('the SQLite store', () => {
  test('the folder and its files belong to their owner only', async () => {
    const home = join(temporaryHome(), 'deep', 'home');
    const { append } = await writerIn(home);
    await append(note);
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

  test('times come from the given clock', async () => {
    const { append } = await writerIn(temporaryHome());
    expect(await append(note)).toMatchObject([{ at: '2026-01-02T03:04:05.678Z', by: 'tester' }]);
  });

  test('a connection that knows nothing of lifeboat finds an intact WAL database with the stated schema', async () => {
    const home = temporaryHome();
    const { journal, append } = await writerIn(home);
    await append(note, note);
    await journal.close();
    const db = databaseIn(home);
    expect(db.prepare('PRAGMA journal_mode').get()).toEqual({ journal_mode: 'wal' });
    expect(db.prepare('PRAGMA integrity_check').all()).toEqual([{ integrity_check: 'ok' }]);
    expect(db.prepare('SELECT count(*) AS n FROM entries').get()).toEqual({ n: 3 });
    const schema = db.prepare('SELECT name, sql FROM sqlite_schema').all();
    expect(Object.fromEntries(schema.map(({ name, sql }) => [name, sql]))).toEqual(SCHEMA);
  });

  test('every commit is synced to the disk before the append resolves', () => {
    const db = openDatabase(temporaryHome());
    onTestFinished(() => db.close());
    expect(
      ['synchronous', 'fullfsync', 'checkpoint_fullfsync', 'busy_timeout'].map((name) => pragma(db, name)),
    ).toEqual([2, 1, 1, 5000]);
  });

  test('entries and heads cannot be changed or deleted by accident with a database tool', async () => {
    const home = temporaryHome();
    const { append } = await writerIn(home);
    await append(note);
    const db = databaseIn(home);
    for (const change of [
      "UPDATE entries SET type='x'",
      'DELETE FROM entries',
      'UPDATE heads SET size=9',
      'DELETE FROM heads',
    ])
      expect(() => db.exec(change)).toThrow('the journal is append-only');
  });

  test('two processes that create the journal at the same moment both get it', async () => {
    const home = temporaryHome();
    const both = await Promise.all([openIn(home), openIn(home)]);
    for (const journal of both) {
      const hold = await journal.hold('run/a');
      await journal.append([note], [hold]);
      await hold.release();
    }
    expect(await both[0].read('run/a')).toHaveLength(2);
  });

  test('a reader creates no journal', async () => {
    const home = temporaryHome();
    await expect(readIn(home)).rejects.toMatchObject({ code: 'journal.none' });
    expect(statSync(join(home, 'lifeboat.db'), { throwIfNoEntry: false })).toBeUndefined();
  });

  test('a reader of a corrupted database gets every row in the best available form, and no row twice', async () => {
    const home = temporaryHome();
    const { journal, append } = await writerIn(home);
    await append(note, note, note, note, note);
    await journal.close();
    tampered(home, (db) => {
      db.enableDefensive(false);
      db.exec('PRAGMA writable_schema=ON');
      db.exec("UPDATE sqlite_schema SET sql = replace(sql, ') STRICT', ')') WHERE name = 'entries'");
    });
    tampered(home, (db) => {
      db.exec("UPDATE entries SET body = x'00ff', hash = 'text' WHERE leaf = 1");
      db.exec('UPDATE entries SET seq = 9223372036854775807 WHERE leaf = 2');
      db.exec("UPDATE entries SET seq = 'three', at = 3.5 WHERE leaf = 3");
      db.exec('UPDATE entries SET leaf = -7 WHERE leaf = 4');
      db.exec('UPDATE entries SET leaf = 9223372036854775807 WHERE leaf = 5');
    });
    const reader = await readIn(home);
    onTestFinished(() => reader.close());
    const rows = await Array.fromAsync(reader.log.stored());
    expect(rows.map(({ index }) => index)).toEqual([0, 1, 2, 3, -1, -1]);
    expect(rows.map(({ seq }) => seq)).toEqual([1, 1, -1, -1, 4, 5]);
    expect(rows.map((row) => row.hash === hashOf(row))).toEqual([true, false, false, false, true, true]);
    expect(await reader.log.count()).toBe(6);
  });

  test('a full disk is reported as an error, keeps what was acknowledged and leaves no partial append', async () => {
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
    const { journal } = await writerIn(home);
    expect(await journal.head('run/a')).toMatchObject({ seq: acknowledged.seq });
    expect(acknowledged.seq % 3).toBe(0);
    expect(acknowledged.seq).toBeGreaterThan(0);
  });

  test.each(['lifeboat.db', 'lifeboat.db-wal'])(
    'deleting %s during a live run is noticed at the next append',
    async (file) => {
      const home = temporaryHome();
      const { append } = await writerIn(home);
      await append(note);
      rmSync(join(home, file));
      await expect(append(note)).rejects.toMatchObject({ code: 'journal.lost' });
      await expect(append(note)).rejects.toMatchObject({ code: 'journal.lost' });
    },
  );

  test('a database that was replaced during a live run is noticed too', async () => {
    const home = temporaryHome();
    const { journal, append } = await writerIn(home);
    await append(note);
    const other = await journal.hold('run/b');
    copyFileSync(join(home, 'lifeboat.db'), join(home, 'copy'));
    renameSync(join(home, 'copy'), join(home, 'lifeboat.db'));
    await expect(append(note)).rejects.toMatchObject({ code: 'journal.lost' });
    expect(other.lost).toMatchObject({ aborted: true, reason: { code: 'journal.lost-hold' } });
    expect(other.lasts()).toBe(0);
  });

  test.each([1, 3])('a journal of format %i is refused with a way out', async (format) => {
    const home = temporaryHome();
    await (await openIn(home)).close();
    databaseIn(home).exec(`PRAGMA user_version=${format}`);
    await expect(openIn(home)).rejects.toMatchObject({
      code: 'journal.version',
      hints: ['use the version of lifeboat that wrote it, or a newer one'],
    });
    await expect(readIn(home)).rejects.toMatchObject({
      code: 'journal.version',
      shortMessage: expect.stringContaining('lifeboat.db has journal format'),
    });
  });

  test('a file that is not a database is reported as damaged and left alone', async () => {
    const home = temporaryHome();
    writeFileSync(join(home, 'lifeboat.db'), 'x'.repeat(5000));
    await expect(openIn(home)).rejects.toMatchObject({
      code: 'journal.unreadable',
    });
    await expect(readIn(home)).rejects.toMatchObject({ code: 'journal.unreadable' });
    expect(statSync(join(home, 'lifeboat.db')).size).toBe(5000);
  });

  test.each([
    ['3.50.4', false],
    ['3.51.2', false],
    ['3.51.3', true],
    ['3.53.4', true],
    ['4.0.0', true],
    [undefined, false],
  ])('SQLite %s is suitable for a journal: %s', (version, fit) => {
    const look = () => assertSqliteVersion(version);
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
