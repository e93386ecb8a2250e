import { isRecent } from '../../serve/models/headline.ts';
import {
  type Entry,
  fieldsOf,
  type Holder,
  type JournalReader,
  type ProjectedRow,
  type RowQuery,
  type StreamName,
} from '../../store/journal.ts';

/** Entries before the head, searched for those of the last minutes. */
const BACK = 2_000;
const MOST_RECENT = 2_000;
/** Entries of single streams, in all of them. */
const MOST_KEPT = 40_000;
/** Milliseconds between questions to the store. */
const HOLDER_MS = 2_000;
/** How many names of people are known, for those who do not want them shown. */
const MOST_PEOPLE = 500;

/** Fields of entries that hold the name of a person. */
const NAMES = ['operator', 'approver', 'requester', 'owner'] as const;

/**
 * The record as the pages read it: one follower of the log keeps it fresh, so a stream is read once, rows
 * once for each size of the log, and a client that looks on costs the store nothing.
 */
export class FollowedRecord implements Pick<JournalReader, 'read' | 'rows' | 'holder' | 'head' | 'log'> {
  readonly log: JournalReader['log'];
  readonly #journal: JournalReader;
  readonly #streams = new Map<StreamName, Entry[]>();
  readonly #rows = new Map<
    string,
    { readonly size: number; readonly rows: Promise<readonly ProjectedRow[]> }
  >();
  readonly #holders = new Map<
    StreamName,
    { readonly atMs: number; readonly holder: Promise<Holder | undefined> }
  >();
  readonly #people = new Set<string>();
  #recent: Entry[] = [];
  #clock: () => Date = () => new Date();
  #size = 0;
  #kept = 0;

  private constructor(journal: JournalReader) {
    this.#journal = journal;
    this.log = journal.log;
  }

  /**
   * Reads the last minutes and follows the log from there until the signal. `onNews` is told of its size.
   * `over` rejects when the log can no longer be read.
   */
  static async follow(
    journal: JournalReader,
    { signal, onNews }: { readonly signal: AbortSignal; readonly onNews: (size: number) => void },
  ): Promise<{ readonly record: FollowedRecord; readonly over: Promise<void> }> {
    const record = new FollowedRecord(journal);
    record.#clock = await journal.clock();
    const { size } = await journal.log.head();
    const first = Math.max(0, size - BACK);
    record.#size = first;
    const groups = journal.follow(first, signal);
    const ready = Promise.withResolvers<void>();
    const following = async () => {
      for await (const group of groups) {
        record.#take(group);
        if (record.#size >= size) ready.resolve();
        onNews(record.#size);
      }
    };
    const over = following();
    over.catch(() => undefined);
    if (first < size) await Promise.race([ready.promise, over]);
    return { record, over };
  }

  /** Entries of the log. */
  get size(): number {
    return this.#size;
  }

  /** By the clock that stamps entries. */
  now(): Date {
    return this.#clock();
  }

  /** The entries of the last ten minutes, as far as they are kept, oldest first. */
  recent(): readonly Entry[] {
    const now = this.now();
    this.#recent = this.#recent.filter(({ at }) => isRecent(at, now));
    return this.#recent;
  }

  /** Named in what was read, in order of appearance. */
  people(): readonly string[] {
    return [...this.#people];
  }

  async read(stream: StreamName, fromSeq = 1): Promise<readonly Entry[]> {
    const kept = this.#streams.get(stream);
    const entries = kept ?? [...(await this.#journal.read(stream))];
    if (kept === undefined) {
      for (const entry of entries) this.#meet(entry);
      this.#kept += entries.length;
    }
    // The one that was read last goes last.
    this.#streams.delete(stream);
    this.#streams.set(stream, entries);
    this.#forget();
    return fromSeq <= 1 ? entries : entries.filter(({ seq }) => seq >= fromSeq);
  }

  async rows(projection: string, query: RowQuery = {}): Promise<readonly ProjectedRow[]> {
    const key = JSON.stringify([projection, query]);
    const found = this.#rows.get(key);
    if (found?.size === this.#size) return found.rows;
    const rows = this.#journal.rows(projection, query);
    this.#rows.set(key, { size: this.#size, rows });
    rows.catch(() => this.#rows.delete(key));
    return rows;
  }

  async holder(stream: StreamName): Promise<Holder | undefined> {
    const found = this.#holders.get(stream);
    if (found !== undefined && performance.now() - found.atMs < HOLDER_MS) return found.holder;
    const holder = this.#journal.holder(stream).catch(() => undefined);
    this.#holders.set(stream, { atMs: performance.now(), holder });
    if (this.#holders.size > MOST_PEOPLE) this.#holders.clear();
    const by = (await holder)?.by;
    if (by !== undefined) this.#name(by);
    return holder;
  }

  head(stream: StreamName) {
    return this.#journal.head(stream);
  }

  #take(group: readonly Entry[]): void {
    for (const entry of group) {
      this.#meet(entry);
      const kept = this.#streams.get(entry.stream);
      const next = (kept?.at(-1)?.seq ?? 0) + 1;
      if (kept !== undefined && entry.seq === next) {
        kept.push(entry);
        this.#kept += 1;
      } else if (kept !== undefined && entry.seq > next) this.#drop(entry.stream);
      this.#recent.push(entry);
      this.#size = entry.index + 1;
    }
    if (this.#recent.length > 2 * MOST_RECENT) this.#recent = this.#recent.slice(-MOST_RECENT);
    for (const [key, { size }] of this.#rows) if (size !== this.#size) this.#rows.delete(key);
    this.#forget();
  }

  #forget(): void {
    for (const stream of this.#streams.keys()) {
      if (this.#kept <= MOST_KEPT || this.#streams.size === 1) return;
      this.#drop(stream);
    }
  }

  #drop(stream: StreamName): void {
    this.#kept -= this.#streams.get(stream)?.length ?? 0;
    this.#streams.delete(stream);
  }

  #meet({ by, body }: Entry): void {
    this.#name(by);
    const fields = fieldsOf(body);
    for (const field of NAMES) if (typeof fields[field] === 'string') this.#name(fields[field]);
  }

  #name(name: string): void {
    if (this.#people.size < MOST_PEOPLE) this.#people.add(name);
  }
}
