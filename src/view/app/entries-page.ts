import { formatTime } from '../../base/format.ts';
import { show } from '../../base/text.ts';
import type { Json, StoredEntry } from '../../store/journal.ts';
import { entrySentences } from '../../store/sentence.ts';

/** How many entries are read at once. Pages begin at multiples of it, so that an older page never changes. */
export const ENTRIES_A_PAGE = 200;

/** Which entries of the journal to show: those of one stream, or all. */
export interface EntriesWanted {
  readonly stream?: string;
}

/** The same, and which page of them; the oldest is 0. */
export interface OlderEntriesWanted extends EntriesWanted {
  readonly page: number;
}

/** An entry in a list, and in full. Every text but `body` is printable. */
export interface EntryRow {
  /** Its leaf in the log, which identifies the entry. */
  readonly index: number;
  readonly stream: string;
  readonly seq: number;
  /** `YYYY-MM-DD HH:MM:SS`, UTC. */
  readonly at: string;
  readonly by: string;
  readonly type: string;
  /** The entry in one line. */
  readonly sentence: string;
  /** Its body as stored: JSON on one line. Untrusted data of its writer. */
  readonly body: string;
  /** Its leaf hash, hex. */
  readonly hash: string;
}

/** A page of the journal, the newest entry first. */
export interface EntriesPage {
  readonly rows: readonly EntryRow[];
  /** The position of the page's oldest entry among those wanted, from 0. */
  readonly first: number;
  /** The number of entries wanted. */
  readonly size: number;
  /** The anchor of everything that the store holds now; undefined in an empty one. */
  readonly anchor?: string | undefined;
}

/** Entries as they are stored, oldest first, for people. Shows whatever a damaged store holds. */
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

/** The rows of a JSON text with one field a row; text that is not JSON is unchanged. */
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
