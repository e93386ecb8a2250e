import { onTestFinished } from 'vitest';
import type {
  Entry,
  Hold,
  Journal,
  JournalReader,
  Json,
  NewEntry,
  StreamName,
} from '../../../src/store/journal.ts';
import type { Signer } from '../../../src/store/log/signer.ts';
import type { Projection } from '../../../src/store/projections/projection.ts';

export interface OpenOptions {
  readonly by?: string;
  /** Defaults to the store's own: all writers without one are the same installation. */
  readonly signer?: Signer;
  /** Defaults to `NOTES` (projection.ts). */
  readonly projections?: readonly Projection[];
  /** Rebuild the rows. */
  readonly rebuild?: boolean;
}

/** One empty store, with operations that only its engine can do. */
export interface StoreUnderTest {
  /** Opens another writer on the same data each time. */
  open(options?: OpenOptions): Promise<Journal>;
  /** Opens another reader. */
  openForReading(options?: Pick<OpenOptions, 'projections'>): Promise<JournalReader>;
  readonly signer: Signer;
  /** A separate process appends this many `note` entries to a stream, which it holds until then. */
  appendElsewhere(stream: StreamName, count: number): Promise<void>;
  /**
   * Lets another process take a stream that one still believes to hold: deletes its lock file, or ends its
   * lease.
   */
  loseHold(stream: StreamName): Promise<void>;
  /** Makes the next write fail to reach the disk. */
  breakDisk(): Promise<void>;
  /** Changes made with a database tool after removing the triggers. */
  readonly tamper: {
    setBody(leaf: number, body: string): Promise<void>;
    removeEntry(leaf: number): Promise<void>;
    /** Adds the last entry again, as the next of its stream, without a head. */
    addEntry(): Promise<void>;
    removeNewestHead(): Promise<void>;
    setNewestHead(note: string): Promise<void>;
    setRow(projection: string, key: string, value: Json): Promise<void>;
    /** All rows of a projection: deletes them, or moves them to another group. */
    rows(act: 'delete' | 'regroup', projection: string): Promise<void>;
  };
}

export type FreshStore = () => StoreUnderTest | Promise<StoreUnderTest>;

/** A writer that is closed after the test. */
export async function opened(store: StoreUnderTest, options?: OpenOptions): Promise<Journal> {
  const journal = await store.open(options);
  onTestFinished(() => journal.close());
  return journal;
}

export async function openedForReading(store: StoreUnderTest, options?: OpenOptions): Promise<JournalReader> {
  const reader = await store.openForReading(options);
  onTestFinished(() => reader.close());
  return reader;
}

/** A writer in a fresh store that holds these streams. */
export async function openedWith(freshStore: FreshStore, ...streams: readonly StreamName[]) {
  const store = await freshStore();
  const journal = await opened(store);
  return { store, journal, holds: await holdsOf(journal, streams) };
}

export async function holdsOf(journal: Journal, streams: readonly StreamName[]): Promise<readonly Hold[]> {
  const holds: Hold[] = [];
  for (const stream of streams) holds.push(await journal.hold(stream));
  return holds;
}

export function note(text: string, stream: StreamName = 'run/a'): NewEntry {
  return { stream, type: 'note', body: { text } };
}

export function notes(count: number, stream: StreamName = 'run/a'): readonly NewEntry[] {
  return Array.from({ length: count }, (_, number) => note(String(number + 1), stream));
}

/** Follows until this many entries have arrived, or one of them ends the wait. */
export async function gather(
  journal: Pick<Journal, 'follow'>,
  count: number,
  { from = 0, meanwhile }: { readonly from?: number; readonly meanwhile?: () => Promise<unknown> } = {},
): Promise<readonly Entry[]> {
  const enough = new AbortController();
  const entries: Entry[] = [];
  const acting = meanwhile?.();
  for await (const group of journal.follow(from, enough.signal)) {
    entries.push(...group);
    if (entries.length >= count) enough.abort();
  }
  await acting;
  return entries;
}
