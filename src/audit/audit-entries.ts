import type { DatabaseSync } from 'node:sqlite';
import { transcriptOf } from '../evidence/transcript/path.ts';
import { isCanonical } from '../store/canonical.ts';
import { linkChecker, type Row } from '../store/chain.ts';
import { ZERO_HASH } from '../store/journal.ts';
import type { Checkpoint } from '../store/log/checkpoint.ts';
import { isStreamName } from '../store/new-entry.ts';
import { show } from '../text.ts';
import { anchorCheck } from './audit-anchor.ts';
import type { Checkpoints } from './audit-checkpoints.ts';
import { endCheck } from './audit-end.ts';
import type { Audit, AuditOptions } from './audit-report.ts';
import { auditTranscript, type KeptTranscript, keptTranscript } from './audit-transcript.ts';

/** Walks all entries once, in order, and compares each stream with its checkpoints. */
export function auditEntries(
  db: DatabaseSync,
  checkpoints: Checkpoints,
  { home, stream: only, anchors = [], approval }: AuditOptions,
  audit: Audit,
): void {
  const anchored = anchorCheck(anchors, audit);
  const quotes = new Map<string, { readonly stream: string; readonly seq: number }>();
  const seen = new Set<string>();
  let current: StreamAudit | undefined;
  for (const row of rowsOf(db, only)) {
    if (!isRow(row)) {
      audit.problem('entry.damaged', 'an entry has a column of a wrong type');
      continue;
    }
    if (current?.stream !== row.stream) {
      current?.finish();
      current = auditStream(row.stream, seen.has(row.stream), checkpoints, home, audit);
      seen.add(row.stream);
    }
    current.take(row);
    anchored.take(row);
    if (row.type.startsWith('approval.')) approval?.(row);
    const run = quotedRun(row);
    if (run !== undefined && !quotes.has(run)) quotes.set(run, { stream: row.stream, seq: row.seq });
  }
  current?.finish();
  anchored.finish();
  const missed = [...checkpoints.byStream].filter(([stream]) => !seen.has(stream) && wanted(stream, only));
  for (const [stream, signed] of missed) {
    if (signed.every(({ seq }) => seq === 0)) continue;
    audit.problem('stream.missing', `${stream} is gone: checkpoints saw its entries`, { stream });
  }
  auditQuotes(db, quotes, audit);
}

interface StreamAudit {
  readonly stream: string;
  take(row: Row): void;
  finish(): void;
}

function auditStream(
  stream: string,
  again: boolean,
  { byStream, trust }: Checkpoints,
  home: string,
  audit: Audit,
): StreamAudit {
  const name = show(stream, 120);
  const signed = byStream.get(stream) ?? [];
  const bySeq = Map.groupBy(signed, (checkpoint) => checkpoint.seq);
  const check = linkChecker();
  const ends = endCheck(stream, audit);
  const kept: KeptTranscript[] = [];
  let isClosed = false;
  let entries = 0;
  let head = { seq: 0, hash: ZERO_HASH };
  if (!isStreamName(stream))
    audit.problem('stream.name', `${name} is not the name of a stream`, { stream: name });
  if (again) audit.problem('database.damaged', `${name} stands in two places`, { stream: name });

  return {
    stream,
    take(row) {
      const where = { stream: name, seq: row.seq };
      for (const problem of check(row)) audit.problem(problem.code, problem.shortMessage, where);
      if (!isCanonical(row.body)) {
        audit.problem('entry.body', `the body of entry ${row.seq} is not canonical JSON`, where);
      }
      for (const checkpoint of bySeq.get(row.seq) ?? []) {
        if (checkpoint.hash === row.hash) continue;
        audit.problem('stream.rewritten', `entry ${row.seq} is not the one that was signed`, where);
      }
      ends.take(row);
      isClosed ||= row.type === 'run.closed';
      const said = saidOfTranscript(row);
      if (said !== undefined) kept.push(said);
      entries += 1;
      head = { seq: row.seq, hash: row.hash };
    },
    finish() {
      const furthest = signed.reduce((most: Checkpoint['seq'], { seq }) => Math.max(most, seq), 0);
      if (furthest > head.seq) {
        const message = `${name} ends at entry ${head.seq}, but entry ${furthest} was signed: its tail was cut`;
        audit.problem('stream.cut', message, { stream: name, seq: head.seq });
      }
      if (signed.length === 0) {
        const why =
          trust === 'none'
            ? 'there is no public key to verify one with'
            : 'a cut tail would not show, nor entries that were added or written anew';
        audit.warning('stream.unsealed', `${name} has no valid checkpoint: ${why}`, { stream: name });
      } else if (furthest < head.seq) {
        audit.warning('stream.unsigned', unsigned(furthest + 1, head.seq, name), { stream: name });
      }
      if (stream.startsWith('run/')) auditTranscript(name, kept, transcriptIn(home, stream), isClosed, audit);
      audit.stream({ stream: name, entries, head: head.hash, sealed: Math.min(furthest, head.seq) });
    },
  };
}

function unsigned(first: number, last: number, name: string): string {
  return first === last
    ? `entry ${last} of ${name} is not signed: whoever could write here could have added it`
    : `entries ${first} to ${last} of ${name} are not signed: whoever could write here could have added them`;
}

function saidOfTranscript(row: Row): KeptTranscript | undefined {
  if (row.type !== 'transcript.kept') return undefined;
  try {
    return keptTranscript({ seq: row.seq, type: row.type, body: JSON.parse(row.body) });
  } catch {
    return undefined;
  }
}

/** A forged name must not lead to a file that has no end. */
function transcriptIn(home: string, stream: string): Buffer | undefined {
  return isStreamName(stream) ? transcriptOf(home, stream.replace(/^run\//u, '')) : undefined;
}

function rowsOf(db: DatabaseSync, only: string | undefined): Iterable<unknown> {
  const columns = 'SELECT stream, seq, at, by, type, body, prev, hash FROM entries';
  if (only === undefined) return db.prepare(`${columns} ORDER BY stream, seq`).iterate();
  return db.prepare(`${columns} WHERE stream = ? ORDER BY seq`).iterate(only);
}

/** A damaged database can hold any type in any column. */
function isRow(value: unknown): value is Row {
  if (typeof value !== 'object' || value === null) return false;
  const { seq, ...texts } = value as Record<string, unknown>;
  return Number.isSafeInteger(seq) && Object.values(texts).every((text) => typeof text === 'string');
}

function wanted(stream: string, only: string | undefined): boolean {
  return only === undefined || stream === only;
}

/** Facts in the ledger of an instance name, as `run`, the run that established them. */
function quotedRun(row: Row): string | undefined {
  if (!row.stream.startsWith('instance/') || !row.body.includes('"run":')) return undefined;
  try {
    const { run } = JSON.parse(row.body);
    return typeof run === 'string' ? run : undefined;
  } catch {
    return undefined;
  }
}

function auditQuotes(
  db: DatabaseSync,
  quotes: ReadonlyMap<string, { readonly stream: string; readonly seq: number }>,
  audit: Audit,
): void {
  const exists = db.prepare('SELECT 1 FROM entries WHERE stream = ? LIMIT 1');
  const begun = db.prepare(
    "SELECT 1 FROM entries WHERE stream = ? AND type = 'call.begun' AND CASE WHEN json_valid(body) THEN json_extract(body, '$.call') END = ? LIMIT 1",
  );
  for (const [run, where] of quotes) {
    if (exists.get(`run/${run}`) !== undefined) continue;
    // A call that no run made stands in the ledger itself.
    if (begun.get(where.stream, run) !== undefined) continue;
    audit.problem('ledger.run', `the ledger names run ${show(run, 60)}, which is not in the journal`, {
      stream: show(where.stream, 120),
      seq: where.seq,
    });
  }
}
