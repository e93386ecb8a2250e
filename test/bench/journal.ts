import { fdatasyncSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { DatabaseSync } from 'node:sqlite';
import { auditVerify } from '../../src/audit/audit.ts';
import { watchJournal } from '../../src/audit/seal.ts';
import { hashEntry } from '../../src/store/chain.ts';
import { ZERO_HASH } from '../../src/store/journal.ts';
import { openSqliteJournal } from '../../src/store/sqlite-journal.ts';
import { freshSigner } from '../audit/signing.ts';

export interface JournalBench {
  /** Median of one durable append, in milliseconds. */
  readonly appendMs: number;
  /** Median of a raw append of the same size and fdatasync, in milliseconds, in the same loop. */
  readonly rawMs: number;
  /** Budget: at most 2. */
  readonly ratio: number;
  /** The whole of `audit verify`, scaled from 100,000 entries, in seconds. Budget: at most 10. */
  readonly verifyMillionSeconds: number;
}

/** Measures the journal: what an intent costs before its first byte may leave, and what an audit costs. */
export async function benchJournal(appends = 2_000, entries = 100_000): Promise<JournalBench> {
  const folder = mkdtempSync(join(tmpdir(), 'lifeboat-bench-'));
  try {
    const { append, raw } = await timeAppends(folder, appends);
    const seconds = await timeVerify(join(folder, 'verify'), entries);
    return {
      appendMs: append,
      rawMs: raw,
      ratio: append / raw,
      verifyMillionSeconds: (seconds * 1_000_000) / entries,
    };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** About 400 bytes of canonical JSON, of the shape that a run mostly writes. */
const body = {
  event: {
    output: {
      backup: { finished_at: '2026-01-02T03:04:05Z', id: 7, size: 123_456_789, status: 'done' },
      report: { entries: 972, sha256: 'a'.repeat(64), verdict: 'readable' },
      warnings: ['the download was resumed once', 'the clock of the service is 2 s behind'],
    },
    type: 'xstate.done.actor.verify',
  },
  title: 'Open the backup with the new key',
  to: 'prove.verify',
};

async function timeAppends(folder: string, count: number): Promise<{ append: number; raw: number }> {
  const home = join(folder, 'append');
  const journal = await openSqliteJournal({ home, by: 'bench' });
  const sealer = watchJournal(journal, freshSigner(), { home });
  const file = openSync(join(folder, 'raw'), 'a', 0o600);
  const line = Buffer.alloc(JSON.stringify(body).length, 'x');
  const times = { append: [] as number[], raw: [] as number[] };
  for (let index = 0; index < count; index += 1) {
    const start = performance.now();
    writeSync(file, line);
    fdatasyncSync(file);
    const between = performance.now();
    await journal.append([{ stream: 'run/a', type: 'note', body }]);
    times.raw.push(between - start);
    times.append.push(performance.now() - between);
  }
  sealer.stop();
  await journal.close();
  return { append: median(times.append), raw: median(times.raw) };
}

async function timeVerify(home: string, count: number): Promise<number> {
  await (await openSqliteJournal({ home, by: 'bench' })).close();
  fill(home, count);
  const journal = await openSqliteJournal({ home, by: 'bench' });
  const sealer = watchJournal(journal, freshSigner(), { home });
  await sealer.sealNow('run/a', 'closed');
  sealer.stop();
  await journal.close();
  const start = performance.now();
  const report = await auditVerify({ home });
  const seconds = (performance.now() - start) / 1_000;
  if (!report.ok || report.entries !== count)
    throw new Error(`the audit found ${JSON.stringify(report.findings)}`);
  return seconds;
}

/** Writes the rows in one transaction: a hundred thousand durable appends would take half a minute. */
function fill(home: string, count: number): void {
  const db = new DatabaseSync(join(home, 'lifeboat.db'));
  db.exec('PRAGMA synchronous=OFF; BEGIN');
  const insert = db.prepare('INSERT INTO entries VALUES (?, ?, ?, ?, ?, ?, ?, ?)');
  const text = JSON.stringify(body);
  let prev = ZERO_HASH;
  for (let seq = 1; seq <= count; seq += 1) {
    const row = {
      stream: 'run/a',
      seq,
      at: '2026-01-02T03:04:05.678Z',
      by: 'bench',
      type: 'note',
      body: text,
      prev,
    };
    const hash = hashEntry(row);
    insert.run(row.stream, seq, row.at, row.by, row.type, text, prev, hash);
    prev = hash;
  }
  db.exec('COMMIT');
  db.close();
}

function median(values: number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}
