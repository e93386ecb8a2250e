import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { auditVerify } from '../../src/audit/audit.ts';
import type { AuditReport } from '../../src/audit/audit-report.ts';
import { hashEntry, type Row } from '../../src/store/chain.ts';
import { type Entry, ZERO_HASH } from '../../src/store/journal.ts';
import { openForReading } from '../../src/store/open-for-reading.ts';

/** What somebody may do to the bytes of one file. Places are shares of its length, in [0, 1). */
export type ByteTampering =
  | { readonly do: 'change'; readonly at: number; readonly by: number }
  | { readonly do: 'delete'; readonly at: number; readonly length: number }
  | { readonly do: 'insert'; readonly at: number; readonly bytes: Uint8Array }
  | { readonly do: 'swap'; readonly at: number; readonly with: number; readonly length: number }
  | { readonly do: 'truncate'; readonly at: number };

/** What somebody with a database tool may do to the rows; `row` and `other` are shares of their number. */
export interface RowTampering {
  readonly do:
    | 'edit'
    | 'delete'
    | 'duplicate'
    | 'swap rows'
    | 'swap bodies'
    | 'cut'
    | 'move'
    | 'swap streams';
  readonly row: number;
  readonly other: number;
  readonly column: (typeof COLUMNS)[number];
  readonly value: string;
  /** Computes the chain anew afterwards, as a forger does who knows the format. */
  readonly rechained: boolean;
}

const COLUMNS = ['stream', 'seq', 'at', 'by', 'type', 'body', 'prev', 'hash'] as const;

const PLACES = 2 ** 30;
const place = fc.noBias(fc.integer({ min: 0, max: PLACES - 1 })).map((at) => at / PLACES);

export const byteTampering: fc.Arbitrary<ByteTampering> = fc.oneof(
  fc.record({ do: fc.constant('change' as const), at: place, by: fc.integer({ min: 1, max: 255 }) }),
  fc.record({ do: fc.constant('delete' as const), at: place, length: fc.integer({ min: 1, max: 5000 }) }),
  fc.record({
    do: fc.constant('insert' as const),
    at: place,
    bytes: fc.uint8Array({ minLength: 1, maxLength: 600 }),
  }),
  fc.record({
    do: fc.constant('swap' as const),
    at: place,
    with: place,
    length: fc.constantFrom(1, 8, 64, 512, 4096),
  }),
  fc.record({ do: fc.constant('truncate' as const), at: place }),
);

export const rowTampering: fc.Arbitrary<RowTampering> = fc.record({
  do: fc.constantFrom(
    'edit',
    'delete',
    'duplicate',
    'swap rows',
    'swap bodies',
    'cut',
    'move',
    'swap streams',
  ),
  row: place,
  other: place,
  column: fc.constantFrom(...COLUMNS),
  value: fc.oneof(
    fc.string({ maxLength: 20 }),
    fc.constantFrom('{}', 'null', '2020-01-01T00:00:00.000Z', '1', '99'),
  ),
  rechained: fc.boolean(),
});

/**
 * What became of a tampering. `harmless`: everything reads as before. `told`: something was added behind the last signature, which
 * nobody can tell from what an honest process has not signed yet, and the audit says that it is not sealed. `missed`: a defeat.
 */
export type Verdict = 'found' | 'harmless' | 'told' | 'missed';

/** A sealed home that can be tampered with again and again. Its journal must be closed. */
export async function openVictim(home: string, publicKey: string) {
  const database = join(home, 'lifeboat.db');
  const content = await dump(home);
  const judge = async (path: string, whole: Buffer): Promise<Verdict> => {
    try {
      const report = await auditVerify({ home, publicKey });
      if (!report.ok) return 'found';
      return compare(content, await dump(home), report);
    } finally {
      for (const end of ['-shm', '-wal', '-journal']) rmSync(`${database}${end}`, { force: true });
      writeFileSync(path, whole);
    }
  };
  return {
    async bytes(file: string, tampering: ByteTampering): Promise<Verdict> {
      const path = join(home, file);
      const whole = readFileSync(path);
      writeFileSync(path, tamperedBytes(whole, tampering));
      return judge(path, whole);
    },
    async rows(tampering: RowTampering): Promise<Verdict> {
      const whole = readFileSync(database);
      forge(database, (db) => tamperWithRows(db, tampering));
      return judge(database, whole);
    },
    /** Two files change places. */
    async exchange(one: string, other: string): Promise<Verdict> {
      const [a, b] = [readFileSync(join(home, one)), readFileSync(join(home, other))];
      writeFileSync(join(home, one), b);
      writeFileSync(join(home, other), a);
      const verdict = await judge(join(home, one), a);
      writeFileSync(join(home, other), b);
      return verdict;
    },
  };
}

function tamperedBytes(whole: Buffer, tampering: ByteTampering): Buffer {
  const at = Math.floor(tampering.at * whole.length);
  switch (tampering.do) {
    case 'change': {
      const changed = Buffer.from(whole);
      changed[at] = (changed[at] ?? 0) ^ tampering.by;
      return changed;
    }
    case 'delete':
      return Buffer.concat([whole.subarray(0, at), whole.subarray(at + tampering.length)]);
    case 'insert':
      return Buffer.concat([whole.subarray(0, at), tampering.bytes, whole.subarray(at)]);
    case 'truncate':
      return whole.subarray(0, at);
    case 'swap': {
      const other = Math.floor(tampering.with * whole.length);
      const changed = Buffer.from(whole);
      const length = Math.min(tampering.length, whole.length - Math.max(at, other));
      whole.copy(changed, at, other, other + length);
      whole.copy(changed, other, at, at + length);
      return changed;
    }
    default:
      return tampering satisfies never;
  }
}

/** Triggers first, and as they were afterwards. A change that the table itself refuses changes nothing. */
function forge(path: string, change: (db: DatabaseSync) => void): void {
  const db = new DatabaseSync(path);
  try {
    const triggers = db.prepare("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'").all();
    for (const { name } of triggers) db.exec(`DROP TRIGGER ${name}`);
    try {
      change(db);
    } catch {
      // A duplicate key or a wrong type: the forger gives up.
    }
    for (const { sql } of triggers) db.exec(String(sql));
  } finally {
    db.close();
  }
}

function tamperWithRows(db: DatabaseSync, tampering: RowTampering): void {
  const rows = db.prepare('SELECT * FROM entries ORDER BY stream, seq').all() as unknown as Row[];
  const row = rows[Math.floor(tampering.row * rows.length)] as Row;
  const other = rows[Math.floor(tampering.other * rows.length)] as Row;
  const { column, value } = tampering;
  const set = (target: Row, name: string, to: string | number) =>
    db
      .prepare(`UPDATE entries SET ${name} = ? WHERE stream = ? AND seq = ?`)
      .run(to, target.stream, target.seq);
  const renumber = (target: Row, to: Pick<Row, 'stream' | 'seq'>) =>
    db
      .prepare('UPDATE entries SET stream = ?, seq = ? WHERE stream = ? AND seq = ?')
      .run(to.stream, to.seq, target.stream, target.seq);
  const limbo = { stream: 'run/limbo', seq: 1 };
  switch (tampering.do) {
    case 'edit':
      set(row, column, column === 'seq' ? Number.parseInt(value, 10) || 0 : value);
      break;
    case 'delete':
      db.prepare('DELETE FROM entries WHERE stream = ? AND seq = ?').run(row.stream, row.seq);
      break;
    case 'cut':
      db.prepare('DELETE FROM entries WHERE stream = ? AND seq >= ?').run(row.stream, row.seq);
      break;
    case 'duplicate': {
      const last = rows.findLast(({ stream }) => stream === other.stream) as Row;
      db.prepare('INSERT INTO entries VALUES (?, ?, ?, ?, ?, ?, ?, ?)').run(
        ...[last.stream, last.seq + 1, row.at, row.by, row.type, row.body, last.hash, row.hash],
      );
      break;
    }
    case 'move':
      renumber(row, { stream: other.stream, seq: 1000 });
      break;
    case 'swap rows':
      renumber(row, limbo);
      renumber(other, row);
      renumber({ ...row, ...limbo }, other);
      break;
    case 'swap bodies':
      set(row, 'body', other.body);
      set(other, 'body', row.body);
      break;
    case 'swap streams':
      db.exec("UPDATE entries SET stream = 'run/limbo' WHERE stream = 'run/a'");
      db.exec("UPDATE entries SET stream = 'run/a' WHERE stream = 'instance/orders'");
      db.exec("UPDATE entries SET stream = 'instance/orders' WHERE stream = 'run/limbo'");
      break;
    default:
      tampering.do satisfies never;
  }
  if (tampering.rechained) rechain(db);
}

/** Numbers and hashes as if nothing had ever stood there but what stands there now. */
function rechain(db: DatabaseSync): void {
  const rows = db.prepare('SELECT * FROM entries ORDER BY stream, seq').all() as unknown as Row[];
  db.exec('DELETE FROM entries');
  const insert = db.prepare('INSERT INTO entries VALUES (?, ?, ?, ?, ?, ?, ?, ?)');
  const tips = new Map<string, { readonly seq: number; readonly hash: string }>();
  for (const row of rows) {
    const tip = tips.get(row.stream) ?? { seq: 0, hash: ZERO_HASH };
    const next = { ...row, seq: tip.seq + 1, prev: tip.hash };
    const hash = hashEntry(next);
    insert.run(row.stream, next.seq, row.at, row.by, row.type, row.body, next.prev, hash);
    tips.set(row.stream, { seq: next.seq, hash });
  }
}

function compare(before: Content, now: Content, { streams }: AuditReport): Verdict {
  if (isDeepStrictEqual(now, before)) return 'harmless';
  const onlyGrown = [...before].every(([stream, entries]) =>
    isDeepStrictEqual(now.get(stream)?.slice(0, entries.length), entries),
  );
  const isTold = [...now].every(([stream, entries]) => {
    const sealed = streams.find((one) => one.stream === stream)?.sealed;
    const known = before.get(stream)?.length ?? 0;
    return entries.length === known || (sealed !== undefined && sealed <= known);
  });
  return onlyGrown && isTold ? 'told' : 'missed';
}

type Content = ReadonlyMap<string, readonly Entry[]>;

async function dump(home: string): Promise<Content> {
  const reader = await openForReading({ home });
  try {
    const heads = await reader.streams();
    return new Map(
      await Promise.all(heads.map(async ({ stream }) => [stream, await reader.read(stream)] as const)),
    );
  } finally {
    await reader.close();
  }
}
