import type { Entry } from '../../store/journal.ts';
import { anchorOf } from '../../store/log/anchor.ts';
import { claimOf } from '../../store/log/checkpoint.ts';
import { speaker } from '../../store/sentence.ts';
import { findLast } from './found.ts';
import type { Report } from './model.ts';
import type { Line } from './model-rows.ts';

/** What a record says about itself. */
export interface RecordProof {
  readonly generatedAt: Date;
  /** The signed head of the store when the report was made (log/checkpoint.ts). */
  readonly note?: string;
  /** Files that belong to the evidence, such as the exported journal, with their SHA-256 in hex. */
  readonly files?: readonly { readonly name: string; readonly sha256: string }[];
}

/** Every entry as a sentence. */
export function linesOf(entries: readonly Entry[]): Line[] {
  const say = speaker();
  return entries.map((entry) => ({
    at: entry.at,
    seq: entry.seq,
    by: entry.by,
    text: say(entry).text,
  }));
}

/** The last entry, the signed head of the store, the files, and how to verify all of it. */
export function evidenceOf(entries: readonly Entry[], { note, files = [] }: RecordProof): Report['evidence'] {
  const last = entries.at(-1);
  const run = last?.stream.replace(/^run\//u, '') ?? '';
  const transcript = findLast(entries, 'transcript.kept')?.body;
  const claim = claimOf(note);
  return {
    ...(last === undefined ? {} : { head: last.hash }),
    ...(claim === undefined ? {} : { anchor: anchorOf(claim) }),
    ...(note === undefined ? {} : { signedHead: note.trimEnd().split('\n') }),
    files: files.map(({ name, sha256 }) => ({ name, sha256 })),
    ...(transcript === undefined ? {} : { transcript }),
    bundle: `lifeboat audit export ${run}`.trim(),
    verify: `lifeboat audit verify ${run}`.trim(),
  };
}
