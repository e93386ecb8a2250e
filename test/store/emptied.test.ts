import { mkdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, test } from 'vitest';
import { openForReading } from '../../src/store/open-for-reading.ts';
import { openSqliteJournal } from '../../src/store/sqlite-journal.ts';
import { openSealed } from '../audit/sealed-journal.ts';
import { temporaryHome } from './temporary-home.ts';

const note = { stream: 'run/a', type: 'note', body: null } as const;
const opening = (home: string) => openSqliteJournal({ home, by: 'tester' });

/** A home after a run that has ended, or been killed: then the newest entries are in the log. */
async function usedHome(how: 'closed' | 'killed'): Promise<string> {
  const { home, journal, sealer, close } = await openSealed();
  const hold = await journal.hold('run/a');
  await journal.append([note, note]);
  sealer.flush();
  const log = readFileSync(join(home, 'lifeboat.db-wal'));
  hold.release();
  await close();
  if (how === 'killed') writeFileSync(join(home, 'lifeboat.db-wal'), log);
  return home;
}

const losses: readonly (readonly [string, (file: string) => void])[] = [
  ['is gone', (file) => rmSync(file)],
  ['has no bytes any more', (file) => truncateSync(file, 0)],
  [
    'was replaced by an empty database',
    (file) => {
      rmSync(file);
      const db = new DatabaseSync(file);
      db.exec('PRAGMA journal_mode=WAL; CREATE TABLE t (a); DROP TABLE t');
      db.close();
    },
  ],
];

describe('a journal that was there is never begun anew in silence', () => {
  test.each(losses)('when the database %s', async (_what, lose) => {
    const home = await usedHome('closed');
    lose(join(home, 'lifeboat.db'));
    const left = statSync(join(home, 'lifeboat.db'), { throwIfNoEntry: false })?.size;
    await expect(opening(home)).rejects.toMatchObject({
      code: 'journal.gone',
      shortMessage: `the journal in ${home} is empty or gone, and there was one`,
    });
    await expect(openForReading({ home })).rejects.toMatchObject({ code: 'journal.gone' });
    expect(statSync(join(home, 'lifeboat.db'), { throwIfNoEntry: false })?.size).toBe(left);
  });

  test.each(losses.slice(0, 2))(
    'when the database %s and the log of a killed process still holds its entries, which is left alone',
    async (_what, lose) => {
      const home = await usedHome('killed');
      for (const folder of ['locks', 'checkpoints']) rmSync(join(home, folder), { recursive: true });
      const log = readFileSync(join(home, 'lifeboat.db-wal'));
      lose(join(home, 'lifeboat.db'));
      await expect(opening(home)).rejects.toMatchObject({ code: 'journal.gone' });
      expect(readFileSync(join(home, 'lifeboat.db-wal')).equals(log)).toBe(true);
    },
  );

  test.each([
    [1, 'journal.gone', 'journal.gone'],
    [99, 'journal.gone', 'journal.damaged'],
    [100, 'journal.damaged', 'journal.damaged'],
    [4095, 'journal.damaged', 'journal.damaged'],
  ])('when the database was cut to %i bytes', async (length, code, told) => {
    const home = await usedHome('closed');
    truncateSync(join(home, 'lifeboat.db'), length);
    await expect(opening(home)).rejects.toMatchObject({ code });
    await expect(openForReading({ home })).rejects.toMatchObject({ code: told });
    expect(statSync(join(home, 'lifeboat.db')).size).toBe(length);
  });

  test('a folder in its place is told apart', async () => {
    const home = temporaryHome();
    mkdirSync(join(home, 'lifeboat.db'));
    await expect(opening(home)).rejects.toMatchObject({
      code: 'journal.home',
      shortMessage: `${join(home, 'lifeboat.db')} cannot be opened: it is a folder`,
    });
    await expect(openForReading({ home })).rejects.toMatchObject({ code: 'journal.home' });
  });

  test('a home that is a file is told apart', async () => {
    const home = join(temporaryHome(), 'home');
    writeFileSync(home, '');
    await expect(opening(home)).rejects.toMatchObject({ code: 'journal.home' });
    await expect(openForReading({ home })).rejects.toMatchObject({ code: 'journal.none' });
  });

  test('a home whose traces were moved away begins a new journal', async () => {
    const home = await usedHome('closed');
    for (const path of ['lifeboat.db', 'locks', 'checkpoints'])
      rmSync(join(home, path), { recursive: true, force: true });
    const journal = await opening(home);
    expect(await journal.streams()).toEqual([]);
    await journal.close();
  });
});
