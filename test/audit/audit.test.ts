import { cpSync, existsSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, onTestFinished, test } from 'vitest';
import { auditVerify } from '../../src/audit/audit.ts';
import type { AuditOptions } from '../../src/audit/audit-report.ts';
import { hashEntry, type Row } from '../../src/store/chain.ts';
import { ZERO_HASH } from '../../src/store/journal.ts';
import { temporaryHome } from '../store/temporary-home.ts';
import { openSealed, sealedHome } from './sealed-journal.ts';
import { freshSigner } from './signing.ts';

const codes = async (options: AuditOptions) => {
  const { ok, findings } = await auditVerify(options);
  expect(ok).toBe(findings.every(({ severity }) => severity === 'warning'));
  return findings.map(({ code, stream, seq }) =>
    [code, stream, seq].filter((part) => part !== undefined).join(' '),
  );
};

/** Changes the database as a forger with a database tool would: triggers first. */
const forge = (home: string, change: (db: DatabaseSync) => void) => {
  const db = new DatabaseSync(join(home, 'lifeboat.db'));
  const triggers = db.prepare("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'").all();
  for (const { name } of triggers) db.exec(`DROP TRIGGER ${name}`);
  change(db);
  for (const { sql } of triggers) db.exec(String(sql));
  db.close();
};

const rehash = (db: DatabaseSync, stream: string, change: (row: Row) => Row) => {
  const rows = db
    .prepare('SELECT * FROM entries WHERE stream = ? ORDER BY seq')
    .all(stream) as unknown as Row[];
  const update = db.prepare('UPDATE entries SET body = ?, prev = ?, hash = ? WHERE stream = ? AND seq = ?');
  let prev = ZERO_HASH;
  for (const row of rows.map(change)) {
    const hash = hashEntry({ ...row, prev });
    update.run(row.body, prev, hash, stream, row.seq);
    prev = hash;
  }
};

describe('audit verify', () => {
  test('an honest journal has no findings, and says how far each stream is sealed', async () => {
    const { home, signer } = await sealedHome(20);
    const report = await auditVerify({ home, publicKey: signer.publicKey });
    expect(report).toMatchObject({ ok: true, entries: 40, findings: [], trust: 'given' });
    expect(report.streams.map(({ stream, entries, sealed }) => [stream, entries, sealed])).toEqual([
      ['instance/orders', 20, 20],
      ['run/a', 20, 20],
    ]);
    expect((await auditVerify({ home, stream: 'run/a' })).streams).toHaveLength(1);
    expect((await auditVerify({ home })).trust).toBe('beside');
  });

  test('it looks at a live journal, and changes nothing in it', async () => {
    const { home, journal, sealer, close } = await openSealed();
    onTestFinished(close);
    await journal.append([{ stream: 'run/a', type: 'note', body: 1 }]);
    sealer.flush();
    const before = readFileSync(join(home, 'lifeboat.db'));
    expect(await auditVerify({ home })).toMatchObject({ ok: true, entries: 1, findings: [] });
    expect(readFileSync(join(home, 'lifeboat.db')).equals(before)).toBe(true);
    await journal.append([{ stream: 'run/a', type: 'note', body: 2 }]);
  });

  test('a cut tail is found, however clean the cut is', async () => {
    const { home } = await sealedHome(20);
    forge(home, (db) => db.exec("DELETE FROM entries WHERE stream = 'run/a' AND seq > 15"));
    const [finding, ...rest] = (await auditVerify({ home })).findings;
    expect(rest).toEqual([]);
    expect(finding).toEqual({
      severity: 'problem',
      code: 'stream.cut',
      stream: 'run/a',
      seq: 15,
      shortMessage: 'run/a ends at entry 15, but entry 20 was signed: its tail was cut',
    });
  });

  test('a deleted run is found', async () => {
    const { home } = await sealedHome(5);
    forge(home, (db) => db.exec("DELETE FROM entries WHERE stream = 'run/a'"));
    expect(await codes({ home })).toEqual(['stream.missing run/a', 'ledger.run instance/orders 1']);
  });

  test('a ledger that names a run which is not in the journal is found without any checkpoint', async () => {
    const { home } = await sealedHome(5);
    rmSync(join(home, 'checkpoints'), { recursive: true });
    forge(home, (db) => db.exec("DELETE FROM entries WHERE stream = 'run/a'"));
    expect(await codes({ home })).toEqual([
      'stream.unsealed instance/orders',
      'ledger.run instance/orders 1',
    ]);
  });

  test('a chain that was re-computed from a changed entry on is found at the first signed entry', async () => {
    const { home } = await sealedHome(20);
    forge(home, (db) =>
      rehash(db, 'run/a', (row) => (row.seq === 3 ? { ...row, body: '{"number":999,"text":""}' } : row)),
    );
    expect(await codes({ home })).toEqual(['stream.rewritten run/a 20', 'stream.rewritten run/a 20']);
  });

  test('whoever re-signs a rewritten chain with a key of his own is betrayed by the public key kept elsewhere', async () => {
    const { home, signer } = await sealedHome(5);
    rmSync(join(home, 'checkpoints'), { recursive: true });
    forge(home, (db) => rehash(db, 'run/a', (row) => ({ ...row, body: '{}' })));
    const forger = await openSealed({ home, signer: freshSigner() });
    await forger.sealer.sealNow('run/a', 'closed');
    await forger.sealer.sealNow('instance/orders', 'closed');
    await forger.close();
    expect(await codes({ home })).toEqual([]);
    expect(await codes({ home, publicKey: signer.publicKey })).toContain('checkpoint.unknown-key run/a');
  });

  test('a home that was rolled back to an old copy is betrayed by the checkpoints in another folder', async () => {
    const folder = temporaryHome();
    const old = await sealedHome(5, [folder]);
    const copy = temporaryHome();
    cpSync(old.home, copy, { recursive: true });
    const more = await openSealed({ home: old.home, signer: old.signer, folders: [folder] });
    await more.journal.append([{ stream: 'run/a', type: 'note', body: 6 }]);
    await more.sealer.sealNow('run/a', 'closed');
    await more.close();
    expect(await codes({ home: copy })).toEqual([]);
    expect(await codes({ home: copy, folders: [folder] })).toEqual(['stream.cut run/a 5']);
    expect(await codes({ home: copy, folders: [temporaryHome()] })).toEqual(['checkpoint.none']);
  });

  test.each<[string, string, string[]]>([
    [
      'changed',
      `UPDATE entries SET body = '{"number":8}' WHERE stream = 'run/a' AND seq = 7`,
      ['chain.hash run/a 7'],
    ],
    [
      'given a space',
      `UPDATE entries SET body = body || ' ' WHERE stream = 'run/a' AND seq = 7`,
      ['chain.hash run/a 7', 'entry.body run/a 7'],
    ],
    [
      'attributed to somebody else',
      "UPDATE entries SET by = 'mallory' WHERE stream = 'run/a' AND seq = 7",
      ['chain.hash run/a 7'],
    ],
    [
      'dated back',
      "UPDATE entries SET at = '2020' WHERE stream = 'run/a' AND seq = 7",
      ['chain.hash run/a 7'],
    ],
    [
      'removed',
      "DELETE FROM entries WHERE stream = 'run/a' AND seq = 7",
      ['chain.gap run/a 8', 'chain.prev run/a 8'],
    ],
    [
      'moved to another stream',
      "UPDATE entries SET stream = 'run/b' WHERE stream = 'run/a' AND seq = 10",
      [
        'stream.cut run/a 9',
        'chain.gap run/b 10',
        'chain.prev run/b 10',
        'chain.hash run/b 10',
        'stream.unsealed run/b',
      ],
    ],
    [
      'given a number that no reader can count',
      "UPDATE entries SET seq = 9223372036854775807 WHERE stream = 'run/a' AND seq = 10",
      ['database.unreadable'],
    ],
  ])('an entry that was %s is found', async (_title, sql, expected) => {
    const { home } = await sealedHome(10);
    forge(home, (db) => db.exec(sql));
    expect(await codes({ home })).toEqual(expected);
  });

  test('a view, a trigger or a table that does not belong there is found', async () => {
    const { home } = await sealedHome(2);
    const db = new DatabaseSync(join(home, 'lifeboat.db'));
    db.exec('DROP TRIGGER entries_no_delete; CREATE VIEW v AS SELECT 1');
    db.close();
    expect(await codes({ home })).toEqual(['database.schema', 'database.schema']);
  });

  test.each<[string, (note: string) => string, string[]]>([
    ['is empty', () => '', ['checkpoint.unreadable run/a']],
    ['is not text', () => '\u0000\ufffd', ['checkpoint.unreadable run/a']],
    ['has a longer size', (note) => note.replace('\n3\n', '\n30\n'), ['checkpoint.bad-signature run/a']],
  ])('a checkpoint that %s is found', async (_title, change, expected) => {
    const { home } = await sealedHome(3);
    const path = join(home, 'checkpoints/run/a/latest.note');
    writeFileSync(path, change(readFileSync(path, 'utf8')));
    expect(await codes({ home })).toEqual(expected);
  });

  test('a checkpoint that was put into the place of another one is found', async () => {
    const { home } = await sealedHome(3);
    cpSync(join(home, 'checkpoints/run/a'), join(home, 'checkpoints/run/b'), { recursive: true });
    expect(await codes({ home })).toEqual(['checkpoint.misplaced run/b', 'checkpoint.misplaced run/b']);
  });

  test('a journal without any checkpoint is sound as far as it goes, with a warning for each stream', async () => {
    const { home } = await sealedHome(3);
    rmSync(join(home, 'checkpoints'), { recursive: true });
    expect(await auditVerify({ home })).toMatchObject({ ok: true, trust: 'none' });
    expect(await codes({ home })).toEqual(['stream.unsealed instance/orders', 'stream.unsealed run/a']);
  });

  test('a write-ahead log that lost its end betrays itself through the checkpoints, although SQLite says nothing', async () => {
    const { home, journal, sealer, close } = await openSealed();
    onTestFinished(close);
    for (let number = 1; number <= 20; number += 1)
      await journal.append([{ stream: 'run/a', type: 'note', body: number }]);
    sealer.flush();
    const copy = temporaryHome();
    for (const part of ['lifeboat.db', 'lifeboat.db-wal', 'checkpoints']) {
      cpSync(join(home, part), join(copy, part), { recursive: true });
    }
    truncateSync(
      join(copy, 'lifeboat.db-wal'),
      Math.floor(readFileSync(join(copy, 'lifeboat.db-wal')).length / 2),
    );
    expect(await codes({ home: copy })).toEqual([expect.stringMatching(/^stream\.cut run\/a \d+$/u)]);
  });

  test('a missing database is a problem when checkpoints know of it, and nothing is created', async () => {
    const { home } = await sealedHome(2);
    for (const file of readdirSync(home).filter((name) => name.startsWith('lifeboat.db')))
      rmSync(join(home, file));
    expect(await auditVerify({ home })).toMatchObject({
      ok: false,
      findings: [{ code: 'database.missing' }],
    });
    expect(existsSync(join(home, 'lifeboat.db'))).toBe(false);
    const empty = temporaryHome();
    expect(await auditVerify({ home: empty })).toMatchObject({
      ok: true,
      findings: [{ code: 'database.missing' }],
    });
    expect(readdirSync(empty)).toEqual([]);
  });

  test.each([
    ['nothing', Buffer.alloc(0)],
    ['text', Buffer.from('this is not a database\n'.repeat(400))],
    ['a header and zeros', Buffer.concat([Buffer.from('SQLite format 3\0'), Buffer.alloc(8192)])],
  ])('a database file that holds %s gives a finding, never a crash', async (_title, bytes) => {
    const { home } = await sealedHome(2);
    writeFileSync(join(home, 'lifeboat.db'), bytes);
    expect(await auditVerify({ home })).toMatchObject({ ok: false, streams: [] });
  });

  test('hostile names in the journal reach the report cleaned', async () => {
    const { home } = await sealedHome(1);
    forge(home, (db) =>
      db.exec("UPDATE entries SET stream = 'run/' || char(27) || '[2J' || char(10) WHERE stream = 'run/a'"),
    );
    expect(JSON.stringify(await auditVerify({ home }))).not.toMatch(/\\u001b|\\n/u);
    expect(await codes({ home })).toContain('stream.name run/\ufffd[2J ');
  });
});
