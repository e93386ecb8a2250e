import { mkdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, test } from 'vitest';
import { openIn, readIn } from './open-in.ts';
import { temporaryHome } from './temporary-home.ts';

const note = { stream: 'run/a', type: 'note', body: null } as const;

/** A home after a run that ended, or was killed: then the newest entries are in the log. */
async function usedHome(how: 'closed' | 'killed'): Promise<string> {
  const home = temporaryHome();
  const journal = await openIn(home);
  const hold = await journal.hold('run/a');
  await journal.append([note, note], [hold]);
  const [origin = '', { note: checkpoint = '' }] = [await journal.log.origin(), await journal.log.head()];
  const place = join(home, origin.replace('lifeboat', 'checkpoints'), 'x000', 'x000');
  mkdirSync(place, { recursive: true });
  writeFileSync(join(place, '003'), checkpoint);
  const log = readFileSync(join(home, 'lifeboat.db-wal'));
  await hold.release();
  await journal.close();
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

describe('an existing journal is never silently replaced by a new one', () => {
  test.each(
    losses.flatMap(([what, lose]) => [[what, 'locks', lose] as const, [what, 'checkpoints', lose] as const]),
  )('when the database %s and the %s are still there', async (_what, left, lose) => {
    const home = await usedHome('closed');
    for (const folder of ['locks', 'checkpoints'])
      if (folder !== left) rmSync(join(home, folder), { recursive: true });
    lose(join(home, 'lifeboat.db'));
    const size = statSync(join(home, 'lifeboat.db'), { throwIfNoEntry: false })?.size;
    await expect(openIn(home)).rejects.toMatchObject({
      code: 'journal.gone',
      shortMessage: `the journal in ${home} is empty or gone, but there was one`,
    });
    await expect(readIn(home)).rejects.toMatchObject({ code: 'journal.gone' });
    expect(statSync(join(home, 'lifeboat.db'), { throwIfNoEntry: false })?.size).toBe(size);
  });

  test.each(losses.slice(0, 2))(
    'when the database %s and the log of a killed process still holds its entries, which is left alone',
    async (_what, lose) => {
      const home = await usedHome('killed');
      for (const folder of ['locks', 'checkpoints']) rmSync(join(home, folder), { recursive: true });
      const log = readFileSync(join(home, 'lifeboat.db-wal'));
      lose(join(home, 'lifeboat.db'));
      await expect(openIn(home)).rejects.toMatchObject({ code: 'journal.gone' });
      expect(readFileSync(join(home, 'lifeboat.db-wal')).equals(log)).toBe(true);
    },
  );

  test.each([
    [1, 'journal.gone', 'journal.gone'],
    [99, 'journal.gone', 'journal.unreadable'],
    [100, 'journal.unreadable', 'journal.unreadable'],
    [4095, 'journal.unreadable', 'journal.unreadable'],
  ])('when the database was cut to %i bytes', async (length, code, readCode) => {
    const home = await usedHome('closed');
    truncateSync(join(home, 'lifeboat.db'), length);
    await expect(openIn(home)).rejects.toMatchObject({ code });
    await expect(readIn(home)).rejects.toMatchObject({ code: readCode });
    expect(statSync(join(home, 'lifeboat.db')).size).toBe(length);
  });

  test('a folder in its place is reported as a folder', async () => {
    const home = temporaryHome();
    mkdirSync(join(home, 'lifeboat.db'));
    await expect(openIn(home)).rejects.toMatchObject({
      code: 'journal.home',
      shortMessage: `${join(home, 'lifeboat.db')} cannot be opened: it is a folder`,
    });
    await expect(readIn(home)).rejects.toMatchObject({ code: 'journal.home' });
  });

  test('a home that is a file cannot be opened, and has no journal to read', async () => {
    const home = join(temporaryHome(), 'home');
    writeFileSync(home, '');
    await expect(openIn(home)).rejects.toMatchObject({ code: 'journal.home' });
    await expect(readIn(home)).rejects.toMatchObject({ code: 'journal.none' });
  });

  test('a home whose files were all moved away begins a new journal', async () => {
    const home = await usedHome('closed');
    for (const path of ['lifeboat.db', 'locks', 'checkpoints'])
      rmSync(join(home, path), { recursive: true, force: true });
    const journal = await openIn(home);
    expect(await journal.streams()).toEqual([]);
    await journal.close();
  });
});
