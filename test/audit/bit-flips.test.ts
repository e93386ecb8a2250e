import { readFileSync, writeFileSync } from 'node:fs';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { LifeboatError } from '../../src/base/errors.ts';
import { PROJECTIONS } from '../../src/store/projected.ts';
import { openSqliteForReading } from '../../src/store/sqlite/open.ts';
import { auditHome, openSealed, type SealedJournal } from './sealed-journal.ts';

/** A journal that was closed: everything is in the database file. */
let closed: string;
/**
 * The state on disk right after a kill: an older database file, and a write-ahead log with the newest
 * commits.
 */
let killed: string;
let content: string;

beforeAll(async () => {
  closed = await mkdtemp(join(tmpdir(), 'lifeboat-flips-'));
  killed = `${closed}-killed`;
  const first = await openSealed({ home: closed });
  await fill(first, 1, 40);
  await first.close();
  const second = await openSealed({ home: closed, signer: first.signer });
  await fill(second, 41, 60);
  await second.sealer.sealNow();
  await cp(closed, killed, { recursive: true, filter: (path) => !path.endsWith('-shm') });
  await second.close();
  content = await dump(closed);
  expect(await dump(killed)).toBe(content);
});

afterAll(async () => {
  for (const home of [closed, killed]) await rm(home, { recursive: true, force: true });
});

describe('a flipped bit is found, or changes nothing that can be read', () => {
  test.each([
    ['in the database of a closed journal', () => closed, 'lifeboat.db', 300],
    ['in the database of a killed process', () => killed, 'lifeboat.db', 150],
    ['in the write-ahead log of a killed process', () => killed, 'lifeboat.db-wal', 200],
  ])('anywhere %s', async (_where, home, file, numRuns) => {
    const bytes = readFileSync(join(home(), file));
    const offset = fc.noBias(fc.integer({ min: 0, max: bytes.length - 1 }));
    let found = 0;
    await fc.assert(
      fc.asyncProperty(offset, fc.integer({ min: 0, max: 7 }), async (at, bit) => {
        const flipped = Buffer.from(bytes);
        flipped[at] = (flipped[at] ?? 0) ^ (1 << bit);
        if (await seesDamage(home(), file, flipped)) found += 1;
      }),
      { numRuns },
    );
    // Half of a database can be free space, or pages with newer versions in the log.
    expect(found).toBeGreaterThan(numRuns / 10);
  });

  test('everywhere in the first 100 bytes, the header of the database', async () => {
    const bytes = readFileSync(join(closed, 'lifeboat.db'));
    for (let at = 0; at < 100; at += 1) {
      const flipped = Buffer.from(bytes);
      flipped[at] = (flipped[at] ?? 0) ^ (1 << (at % 8));
      await seesDamage(closed, 'lifeboat.db', flipped);
    }
  });
});

test.each(['NULL', '7', "x'00ff'"])(
  'a head whose note is %s and no text is found as damage',
  async (value) => {
    const home = `${closed}-note`;
    onTestFinished(() => rm(home, { recursive: true, force: true }));
    await cp(closed, home, { recursive: true });
    const db = new DatabaseSync(join(home, 'lifeboat.db'), { defensive: false });
    const { sql } = db.prepare("SELECT sql FROM sqlite_schema WHERE name = 'heads'").get() as { sql: string };
    const schema = (text: string) => {
      db.exec('PRAGMA writable_schema = ON');
      db.prepare("UPDATE sqlite_schema SET sql = ? WHERE name = 'heads'").run(text);
      db.exec('PRAGMA writable_schema = RESET');
    };
    // The effect of a flipped bit in a row: SQLite checks no types when it reads.
    schema(sql.replace('note TEXT NOT NULL', 'note ANY'));
    const trigger = db.prepare("SELECT sql FROM sqlite_schema WHERE name = 'heads_no_update'").get();
    db.exec(`DROP TRIGGER heads_no_update; UPDATE heads SET note = ${value}; ${String(trigger?.['sql'])}`);
    schema(sql);
    db.close();
    const report = await auditHome({ home });
    expect(report.verdict).toBe('not-intact');
  },
);

/** Puts the damaged file in place; fails if the audit passes although the journal reads differently. */
async function seesDamage(home: string, file: string, damaged: Buffer): Promise<boolean> {
  const whole = readFileSync(join(home, file));
  writeFileSync(join(home, file), damaged);
  try {
    const verdict = await auditHome({ home }).then((report) => report.verdict, refused);
    if (verdict !== 'not-intact') expect(await dump(home)).toBe(content);
    return verdict === 'not-intact';
  } finally {
    await rm(join(home, 'lifeboat.db-shm'), { force: true });
    writeFileSync(join(home, file), whole);
  }
}

/** A database that cannot be opened counts as found. */
function refused(thrown: unknown): 'not-intact' {
  if (thrown instanceof LifeboatError && thrown.code.startsWith('journal.')) return 'not-intact';
  throw thrown;
}

async function dump(home: string): Promise<string> {
  const reader = await openSqliteForReading({ home, projections: PROJECTIONS });
  try {
    const heads = await reader.streams();
    return JSON.stringify(await Promise.all(heads.map(({ stream }) => reader.read(stream))));
  } finally {
    await reader.close();
    await rm(join(home, 'lifeboat.db-shm'), { force: true });
  }
}

async function fill({ append }: SealedJournal, from: number, to: number): Promise<void> {
  for (let number = from; number <= to; number += 1) {
    await append(
      { stream: 'run/a', type: 'note', body: { number, text: `é${'x'.repeat((number * 37) % 500)}` } },
      { stream: 'instance/orders', type: 'note', body: [number] },
    );
  }
  await append({ stream: 'run/big', type: 'note', body: 'y'.repeat(6000) });
}
