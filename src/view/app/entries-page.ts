import { formatTime } from '../../base/format.ts';
import { show } from '../../base/text.ts';
import type { Json, StoredEntry } from '../../store/journal.ts';
import { entrySentences } from '../../store/sentence.ts';

/** Pages begin at multiples of this number of entries, so that an older page never changes. */
export const ENTRIES_A_PAGE = 200;

/** One stream, or all entries. */
export interface EntriesWanted {
  readonly stream?: string;
}

/** The oldest page is 0. */
export interface OlderEntriesWanted extends EntriesWanted {
  readonly page: number;
}

/** Every text but `body` is printable. */
export interface EntryRow {
  /** Its leaf in the log, which identifies the entry. */
  readonly index: number;
  readonly stream: string;
  readonly seq: number;
  /** `YYYY-MM-DD HH:MM:SS`, UTC. */
  readonly at: string;
  readonly by: string;
  readonly type: string;
  /** One line. */
  readonly sentence: string;
  /** As stored: JSON on one line. Untrusted data of its writer. */
  readonly body: string;
  /** Hex. */
  readonly hash: string;
}

/** The newest entry first. */
export interface EntriesPage {
  readonly rows: readonly EntryRow[];
  /** The position of the oldest entry, from 0. */
  readonly first: number;
  /** Entries of all pages. */
  readonly size: number;
  /** Of everything that the store holds now; undefined for an empty store. */
  readonly anchor?: string | undefined;
}

/** Oldest first. Shows whatever a damaged store holds. */
export function entryRows(entries: readonly StoredEntry[]): EntryRow[] {
  const say = entrySentences();
  return entries.map((entry) => entryRow(entry, say));
}

function entryRow(
  { index, stream, seq, at, by, type, body, hash }: StoredEntry,
  say: ReturnType<typeof entrySentences>,
): EntryRow {
  return {
    index,
    stream: show(stream, 120),
    seq,
    at: formatTime(show(at, 30)),
    by: show(by, 60),
    type: show(type, 64),
    sentence: sentenceIn({ stream, type, body }, say),
    body,
    hash: show(hash, 64),
  };
}

/** JSON with one field a row; other text is unchanged. */
export function bodyRows(body: string): readonly string[] {
  try {
    return JSON.stringify(JSON.parse(body), null, 2).split('\n');
  } catch {
    return body.split('\n');
  }
}

function sentenceIn(
  { stream, type, body }: Pick<StoredEntry, 'stream' | 'type' | 'body'>,
  say: ReturnType<typeof entrySentences>,
): string {
  try {
    return say({ stream, type, body: JSON.parse(body) as Json }).text;
  } catch {
    return 'an entry that cannot be read: v verifies the log';
  }
}
