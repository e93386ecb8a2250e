import type { Secret } from '../base/secret.ts';

/**
 * The store is the only source of truth about runs and instances. Two engines, SQLite in a home for one
 * machine and PostgreSQL for a team, pass one contract suite (test/store/contract.ts). Nothing outside
 * src/store gets a database handle or the folder of the database.
 */

/** The body of an entry. Not a `Secret`: its type does not serialise. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/**
 * `run/<id>`, `plan/<id>` (people's wishes about the run of a plan), `instance/<name>` (its ledger),
 * `notify/outbox`, `keys/holders`, `workers/schedules`, `store/log`, or `workers/limits`, which is only held.
 */
export type StreamName =
  | `run/${string}`
  | `plan/${string}`
  | `instance/${string}`
  | typeof OUTBOX_STREAM
  | typeof HOLDERS_STREAM
  | typeof LIMITS_STREAM
  | typeof SCHEDULES_STREAM
  | typeof LOG_STREAM;

/** The store's own stream: its origin, the keys that sign, losses that a person accepted. */
export const LOG_STREAM = 'store/log';

/** When each schedule has run. */
export const SCHEDULES_STREAM = 'workers/schedules';

/** Held by the process that decides whether one more run may start work; it has no entries. */
export const LIMITS_STREAM = 'workers/limits';

/** Who has shown that they can open sealed copies of keys. */
export const HOLDERS_STREAM = 'keys/holders';

/** Which notifications were tried, and since when each target receives them. */
export const OUTBOX_STREAM = 'notify/outbox';

/** A leaf of the log. */
export interface Entry {
  /** The number of its leaf, from 0 over all streams, in order of append. */
  readonly index: number;
  readonly stream: StreamName;
  /** From 1, without gaps inside a stream. */
  readonly seq: number;
  /** RFC 3339 UTC with milliseconds, by the machine's clock (SQLite) or the database's (PostgreSQL). */
  readonly at: string;
  /** The operator's name from the config, or the login name. */
  readonly by: string;
  readonly type: string;
  readonly body: Json;
  /** The leaf hash (RFC 6962) of the canonical text (canonical.ts), 64 lower-case hex digits. */
  readonly hash: string;
}

export interface NewEntry {
  readonly stream: StreamName;
  readonly type: string;
  readonly body: Json;
}

/** The last entry of a stream. An empty stream is `{seq: 0, hash: ''}`. */
export interface Head {
  readonly stream: StreamName;
  readonly seq: number;
  readonly hash: string;
}

/**
 * The exclusive right to write a stream. SQLite: a lock that the kernel frees however the process dies.
 * PostgreSQL: a lease by the database's clock, renewed in the background.
 */
export interface Hold {
  readonly resource: StreamName;
  /** Grows with each hold of this resource. Each append proves it; an earlier holder's token is refused. */
  readonly token: number;
  /**
   * Aborts with `journal.lost-hold` as soon as another process may have the right, because the lease was not
   * renewed in time. After that no byte of a changing call may be sent.
   */
  readonly lost: AbortSignal;
  /**
   * Milliseconds that the hold certainly lasts without a renewal; `Infinity` if the kernel keeps it. Reads
   * the clock at each call, so it is right even after the process was stopped.
   */
  lasts(): number;
  /** Idempotent; never throws. */
  release(): Promise<void>;
}

/** The signed head of the log. */
export interface LogHead {
  readonly size: number;
  /** 64 lower-case hex digits. */
  readonly root: string;
  /** The checkpoint (log/checkpoint.ts) signed with the newest append. Undefined in an empty store. */
  readonly note: string | undefined;
}

/** `body` is canonical text (canonical.ts). */
export interface LeafFields {
  readonly stream: string;
  readonly seq: number;
  readonly at: string;
  readonly by: string;
  readonly type: string;
  readonly body: string;
}

/** As an audit reads it: not parsed, not checked. */
export interface StoredEntry extends LeafFields {
  readonly index: number;
  readonly hash: string;
}

export interface LoggedEntry extends StoredEntry {
  /** The subtrees that the leaf completes (log/merkle.ts): hashes from level 1 up, hex, concatenated. */
  readonly tree: string;
}

/** The single Merkle tree over all entries. */
export interface Log {
  /** `lifeboat/<16 hex digits>`, chosen at random; undefined in an empty store. */
  origin(): Promise<string | undefined>;
  head(): Promise<LogHead>;
  /** The root of the first `size` leaves, hex. Rejects with `journal.damaged` if nodes are missing. */
  rootAt(size: number): Promise<string>;
  /** RFC 6962 audit path, hex. */
  inclusion(index: number, size: number): Promise<readonly string[]>;
  /** RFC 6962 consistency proof, hex. */
  consistency(from: number, size: number): Promise<readonly string[]>;
  /** In leaf order, from `from` (default 0). May yield anything that a damaged database holds. */
  stored(from?: number): AsyncIterable<LoggedEntry>;
  /**
   * Problems in how the engine keeps the entries outside the log, such as an index that hides some; none in a
   * sound store. Takes as long as reading everything.
   */
  check(): Promise<readonly string[]>;
  /**
   * Entries that their writer signed, that are not in the log, and that no live append will add. Only in an
   * engine that commits an entry before its leaf.
   */
  leftOver?(): Promise<readonly Pick<StoredEntry, 'stream' | 'seq'>[]>;
  /** How many entries exist; fewer than the head's size if rows were removed. */
  count(): Promise<number>;
  /**
   * The largest size whose checkpoint the home place of this installation took, as this store remembers; 0
   * for none. Written with the next append after the checkpoint.
   */
  vouched(): Promise<number>;
  /** Records that the home place has a checkpoint of this size; durable with the next append. */
  vouch(size: number): void;
}

export interface RowQuery {
  /** Such as `open` or an instance's name: each projection defines its groups. */
  readonly group?: string;
  readonly keyPrefix?: string;
  /** Read thousands of rows some at a time. */
  readonly keys?: readonly string[];
  readonly limit?: number;
  /** By sort key; default `ascending`. */
  readonly order?: 'ascending' | 'descending';
  /** Only rows that come after this one in that order. */
  readonly after?: Pick<ProjectedRow, 'sort' | 'key'> | undefined;
}

export interface ProjectedRow {
  readonly key: string;
  readonly group: string;
  readonly sort: string;
  readonly value: Json;
}

/** For people. */
export interface Holder {
  /** The operator's name, if the store keeps it. */
  readonly by?: string | undefined;
  readonly pid: number;
  readonly host: string;
  /** RFC 3339. */
  readonly since: string;
  /** Whether it is this process. */
  readonly isHere: boolean;
}

export interface Journal {
  /** The clock of entries: this machine's, or the database's, which may be on another machine. */
  readonly stampedBy: 'machine' | 'database';
  /**
   * The clock that stamps entries, for times that must be the same on every machine. The database's clock is
   * asked once, advances by the time that passes here, and is never behind.
   */
  clock(): Promise<() => Date>;
  /**
   * Appends entries of one or several streams in one transaction. When this resolves, they are on disk and in
   * the log, and the new head is signed; when it rejects, none is there. Each stream needs its hold among
   * `holds`, otherwise `journal.unheld`; `store/log` needs none. A hold that another process took over
   * rejects with `journal.conflict`, a lost one with `journal.lost-hold`; a guarded secret with
   * `journal.secret`, a body over 1 MiB or nested deeper than 100 levels with `journal.too-large`, a value
   * that is not JSON with `journal.bad-entry`. Lone surrogates become U+FFFD, because UTF-8 cannot hold them.
   * Returns the bodies as stored.
   *
   * After a failed write the journal refuses further writes (`journal.lost`). Only then may the entries turn
   * up later: a disk that reports an error may have kept the bytes.
   *
   * `wakes` reach the queue together with the entries, or not at all. A missing or broken queue never fails
   * an append: the wake-ups are lost, and a worker's sweep finds the runs.
   *
   * `under` are holds that must last as well, although nothing is written to their streams: a lost one
   * refuses the entries.
   */
  append(
    entries: readonly NewEntry[],
    holds: readonly Hold[],
    wakes?: readonly Wake[],
    under?: readonly Hold[],
  ): Promise<readonly Entry[]>;
  /**
   * Calls back with the wake-ups of each append of this journal, once it is durable: a queue in this process
   * has no other source. The listener must not throw. Returns a function that ends it.
   */
  onWake(listener: (wakes: readonly Wake[]) => void): () => void;
  /** In order, from `fromSeq` (default 1). An unknown stream is empty. */
  read(stream: StreamName, fromSeq?: number): Promise<readonly Entry[]>;
  head(stream: StreamName): Promise<Head>;
  /** Of streams whose name begins with `prefix` (`run/`, `instance/`, or empty for all). */
  streams(prefix?: string): Promise<readonly Head[]>;
  /**
   * Entries of all streams and processes from the leaf `from`, in order, in groups, as they become durable.
   * Those of this process arrive at once. Ends when the signal aborts.
   */
  follow(from: number, signal: AbortSignal): AsyncIterable<readonly Entry[]>;
  /** Never waits. Rejects with `journal.held`, naming the holder, if another process has the stream. */
  hold(stream: StreamName): Promise<Hold>;
  /** Found without taking the stream; undefined if it is free. Only a hint: it may change hands at once. */
  holder(stream: StreamName): Promise<Holder | undefined>;
  /** No later entry may contain this secret, or its base64, hex, URL-encoded or JSON-escaped form. */
  guard(secret: Secret): void;
  readonly log: Log;
  /** Projections (projections/projection.ts) are kept with the appends. */
  rows(projection: string, query?: RowQuery): Promise<readonly ProjectedRow[]>;
  close(): Promise<void>;
}

/** "Look at this run", not before `at`. How often it is delivered changes only the timing. */
export interface Wake {
  readonly run: string;
  readonly at?: Date;
}

export type JournalReader = Pick<
  Journal,
  'clock' | 'read' | 'head' | 'streams' | 'follow' | 'holder' | 'log' | 'rows' | 'close'
>;

/** Empty for any value that is not an object. */
export function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  return isObject ? (value as Readonly<Record<string, unknown>>) : {};
}
