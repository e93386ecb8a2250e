import { describe, expect, test } from 'vitest';
import { type CheckEntriesOptions, checkEntries } from '../../src/audit/walk.ts';
import { hashOf } from '../../src/store/canonical.ts';
import type { Loss } from '../../src/store/log/log-entries.ts';
import { PROJECTIONS } from '../../src/store/projected.ts';
import { openSqliteForReading } from '../../src/store/sqlite/open.ts';
import { forge, rowsOf } from './forge.ts';
import { type SealedJournal, sealedHome } from './sealed-journal.ts';

describe('a check of the entries alone', () => {
  test('has no finding for an untouched store, and reports how many entries it has hashed', async () => {
    const sealed = await sealedHome(20);
    expect(await look(sealed)).toEqual({ checked: 41, unread: 0, problems: [] });
    expect(await look(sealed, { newest: 100 })).toEqual({ checked: 41, unread: 0, problems: [] });
    for (let newest = 0; newest < 41; newest += 1)
      expect(await look(sealed, { newest })).toEqual({ checked: newest, unread: 41 - newest, problems: [] });
  });

  test('finds an entry that was rewritten in place, unless it is older than the requested start', async () => {
    const sealed = await sealedHome(20);
    forge(sealed.home, (db) => db.exec("UPDATE entries SET body = '{}' WHERE leaf = 7"));
    expect(await codes(sealed)).toEqual(['entry.changed']);
    expect(await codes(sealed, { newest: 34 })).toEqual(['entry.changed']);
    expect(await codes(sealed, { newest: 33 })).toEqual([]);
  });

  test('finds one that was rewritten together with its hash', async () => {
    const sealed = await sealedHome(20);
    forge(sealed.home, (db) => {
      const row = rowsOf(db)[2];
      if (row === undefined) throw new Error('there are 41');
      const hash = Buffer.from(hashOf({ ...row, body: '{}' }), 'hex');
      db.prepare("UPDATE entries SET body = '{}', hash = ? WHERE leaf = 2").run(hash);
    });
    expect(await codes(sealed)).toContain('tree.changed');
  });

  test('skips what a person has accepted as lost, even if it starts inside that part', async () => {
    const sealed = await sealedHome(20);
    forge(sealed.home, (db) => db.exec('DELETE FROM entries WHERE leaf BETWEEN 11 AND 14'));
    expect(await codes(sealed)).toContain('log.gap');
    const losses = [{ gaps: [[11, 14]] }] as unknown as readonly Loss[];
    expect(await look(sealed, { losses })).toEqual({ checked: 37, unread: 0, problems: [] });
    expect(await look(sealed, { losses, newest: 28 })).toEqual({ checked: 26, unread: 13, problems: [] });
  });
});

async function look({ home }: SealedJournal, options?: CheckEntriesOptions) {
  const { log, close } = await openSqliteForReading({ home, projections: PROJECTIONS });
  try {
    return await checkEntries(log, options);
  } finally {
    await close();
  }
}

const codes = async (sealed: SealedJournal, options?: CheckEntriesOptions) =>
  (await look(sealed, options)).problems.map(({ code }) => code);
