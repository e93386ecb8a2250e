import { z } from 'zod';
import { canonicalBody } from '../store/canonical.ts';
import { linkChecker, type Row } from '../store/chain.ts';
import { type Head, type Json, type StreamName, ZERO_HASH } from '../store/journal.ts';
import type { Anchor } from '../store/log/anchor.ts';
import { readCheckpoint } from '../store/log/checkpoint.ts';
import { show } from '../text.ts';
import { anchorCheck } from './audit-anchor.ts';
import { type EndCheck, endCheck } from './audit-end.ts';
import { type Audit, type AuditReport, createAudit } from './audit-report.ts';
import { parsePublicKeys } from './checkpoint-files.ts';
import { entryLine, headLine } from './export.ts';

const Stream = z.string().transform((name) => name as StreamName);
const ExportedEntry = z.strictObject({
  stream: Stream,
  seq: z.int(),
  at: z.string(),
  by: z.string(),
  type: z.string(),
  // JSON, since that is where it comes from; a schema of it would need a hundred times the room.
  body: z.unknown().transform((body) => body as Json),
  prev: z.string(),
  hash: z.string(),
});
const ExportedHead = z.strictObject({
  head: z.strictObject({ stream: Stream, seq: z.int(), hash: z.string() }),
  note: z.string().optional(),
});

/**
 * Verifies an exported stream without the journal it came from: every line's exact form, the chain, the head line and,
 * when it is signed, the note. `publicKey` is PEM; without it a note cannot be verified, and the report's trust is `none`.
 * Never throws on any content.
 */
export function verifyExport(
  lines: readonly string[],
  publicKey?: string,
  anchors: readonly Anchor[] = [],
): AuditReport {
  const audit = createAudit();
  const read = auditExported(lines, publicKey, audit);
  const anchored = anchorCheck(anchors, audit);
  for (const row of read?.rows ?? []) anchored.take(row);
  anchored.finish();
  return audit.report(read === undefined || publicKey === undefined ? 'none' : 'given');
}

/** The same as a part of an audit: gives the entries that could be read, or undefined when the end of the export is missing. */
export function auditExported(
  lines: readonly string[],
  publicKey: string | undefined,
  audit: Audit,
): { readonly stream: string; readonly rows: readonly Row[] } | undefined {
  const rows = lines.slice(0, -1).map((line) => exactly(line, readEntry));
  const check = linkChecker();
  let tip: Head | undefined;
  let ends: EndCheck | undefined;
  for (const [index, row] of rows.entries()) {
    if (row === undefined || (tip !== undefined && row.stream !== tip.stream)) {
      audit.problem('export.line', `line ${index + 1} is not an exported entry of this stream`);
      continue;
    }
    for (const { seq, code, shortMessage } of check(row)) audit.problem(code, shortMessage, { seq });
    ends ??= endCheck(row.stream, audit);
    ends.take(row);
    tip = { stream: row.stream as StreamName, seq: row.seq, hash: row.hash };
  }

  const last = exactly(lines.at(-1) ?? '', readHead);
  if (last === undefined) {
    audit.problem('export.head', 'the last line is not a head: the end of the export is missing');
    return undefined;
  }
  if (!sameHead(last.head, tip ?? { ...last.head, seq: 0, hash: ZERO_HASH })) {
    audit.problem('export.head', 'the head line does not fit the last entry');
  }
  const sealed = verifyNote(last, publicKey, audit);
  audit.stream({ stream: show(last.head.stream, 120), entries: rows.length, head: last.head.hash, sealed });
  return { stream: last.head.stream, rows: rows.filter((row) => row !== undefined) };
}

/** How far the note reaches; 0 when there is none or it is not believed. */
function verifyNote(
  { head, note }: z.infer<typeof ExportedHead>,
  publicKey: string | undefined,
  audit: Audit,
): number {
  if (publicKey === undefined || note === undefined) {
    const why =
      note === undefined ? 'the export is not signed' : 'there is no public key to verify its note with';
    audit.warning('stream.unsealed', `whoever made this export could have left out its end: ${why}`);
    return 0;
  }
  const read = readCheckpoint(note, parsePublicKeys(publicKey));
  if (read.result === 'signed' && sameHead(read.checkpoint, head)) return head.seq;
  audit.problem('export.note', 'the signed note does not verify, or not for this head');
  return 0;
}

/** Characters. The largest body is a MiB, each character of which may be written as six of three bytes. */
const LONGEST_LINE = 4 * 1024 * 1024;
/** Two hashes alone are more. */
const SHORTEST_ENTRY = 128;

/** The lines of an exported stream. It is printable ASCII, and what cannot be one, by its size alone, has no lines. */
export function exportedLines(bytes: Buffer): string[] {
  let lines = 0;
  for (let at = bytes.indexOf(0x0a); at !== -1; at = bytes.indexOf(0x0a, at + 1)) lines += 1;
  if ((lines - 1) * SHORTEST_ENTRY > bytes.length) return [];
  return bytes.toString('latin1').split('\n');
}

/** What one spelling of a line says, if it has exactly that spelling: otherwise a change could hide in it. */
function exactly<T>(line: string, read: (json: unknown) => { value: T; spelling: string }): T | undefined {
  if (line.length > LONGEST_LINE) return undefined;
  try {
    const { value, spelling } = read(JSON.parse(line));
    return spelling === line ? value : undefined;
  } catch {
    return undefined;
  }
}

function readEntry(json: unknown): { value: Row; spelling: string } {
  const entry = ExportedEntry.parse(json);
  const body = canonicalBody(entry.body, 'the line');
  return { value: { ...entry, body }, spelling: entryLine({ ...entry, body: JSON.parse(body) }) };
}

function readHead(json: unknown): { value: z.infer<typeof ExportedHead>; spelling: string } {
  const value = ExportedHead.parse(json);
  return { value, spelling: headLine(value.head, value.note) };
}

function sameHead(a: Head, b: Head): boolean {
  return a.stream === b.stream && a.seq === b.seq && a.hash === b.hash;
}
