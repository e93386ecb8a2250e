import type { Secret } from '../base/secret.ts';

/**
 * The port of the store, the only source of truth about runs and instances. It has two engines: SQLite in a
 * home for one machine, and PostgreSQL for a team; one contract suite runs against both
 * (test/store/contract.ts). Nothing outside src/store gets a database handle or the folder of the database.
 */

/** Any JSON value that an entry's body may hold. A `Secret` is not one: its type does not serialise. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/**
 * `run/<id>`, `plan/<id>` (wishes of people about the run of a plan), `instance/<name>` (its ledger),
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

/** Held by the process that decides whether one more run may begin to work; nothing is written to it. */
export const LIMITS_STREAM = 'workers/limits';

/** Which people have shown that they can open sealed copies of keys. */
export const HOLDERS_STREAM = 'keys/holders';

/** Which notifications were tried, and since when each target receives them. */
export const OUTBOX_STREAM = 'notify/outbox';

/** One recorded fact, a leaf of the log. */
export interface Entry {
  /** The number of its leaf, from 0 over all streams, in order of append. */
  readonly index: number;
  readonly stream: StreamName;
  /** From 1, without gaps inside a stream. */
  readonly seq: number;
  /** RFC 3339 UTC with milliseconds, by the clock of the machine (SQLite) or of the database (PostgreSQL). */
  readonly at: string;
  /** Who acted: the operator's name from the config, or the login name. */
  readonly by: string;
  readonly type: string;
  readonly body: Json;
  /** The leaf hash (RFC 6962) of the entry's canonical text (canonical.ts), as 64 lower-case hex digits. */
  readonly hash: string;
}

export interface NewEntry {
  readonly stream: StreamName;
  readonly type: string;
  readonly body: Json;
}

/** The last entry of a stream: its length and hash. An empty stream is `{seq: 0, hash: ''}`. */
export interface Head {
  readonly stream: StreamName;
  readonly seq: number;
  readonly hash: string;
}

/**
 * The exclusive right to write a stream. SQLite: a lock that the kernel frees when the process dies, however
 * it dies. PostgreSQL: a lease by the database's clock, renewed in the background.
 */
export interface Hold {
  readonly resource: StreamName;
  /**
   * Grows with each hold of this resource. Each append proves it; the token of an earlier holder is refused.
   */
  readonly token: number;
  /**
   * Aborted with the reason `journal.lost-hold` as soon as another process may have the right, because the
   * lease was not renewed in time. After that no byte of a changing call may be sent.
   */
  readonly lost: AbortSignal;
  /**
   * Milliseconds for which the hold certainly lasts without another renewal; `Infinity` if the kernel keeps
   * it. Reads the clock at each call, so the answer is right even after the process was stopped.
   */
  lasts(): number;
  /** Releases the hold. Does nothing the second time; never throws. */
  release(): Promise<void>;
}

/** The signed head of the log. */
export interface LogHead {
  readonly size: number;
  /** The root of the tree, 64 lower-case hex digits. */
  readonly root: string;
  /**
   * The checkpoint (log/checkpoint.ts) of the newest append, signed in the same transaction. Undefined in an
   * empty store.
   */
  readonly note: string | undefined;
}

/** The hashed fields of an entry. `body` is already canonical text (canonical.ts). */
export interface LeafFields {
  readonly stream: string;
  readonly seq: number;
  readonly at: string;
  readonly by: string;
  readonly type: string;
  readonly body: string;
}

/** A stored entry as an audit reads it: nothing parsed, nothing checked. */
export interface StoredEntry extends LeafFields {
  readonly index: number;
  readonly hash: string;
}

/** An entry as it is stored, with the tree nodes stored at its leaf. */
export interface LoggedEntry extends StoredEntry {
  /**
   * The hashes of the subtrees that the leaf completes (log/merkle.ts), from level 1 up, hex, concatenated.
   */
  readonly tree: string;
}

/** The single Merkle tree over all entries. */
export interface Log {
  /** The name of this log, `lifeboat/<16 hex digits>`, chosen at random; undefined in an empty store. */
  origin(): Promise<string | undefined>;
  head(): Promise<LogHead>;
  /** The root of the first `size` leaves, hex. Rejects with `journal.damaged` if nodes are missing. */
  rootAt(size: number): Promise<string>;
  /** RFC 6962 audit path, each hash in hex. */
  inclusion(index: number, size: number): Promise<readonly string[]>;
  /** RFC 6962 consistency proof, each hash in hex. */
  consistency(from: number, size: number): Promise<readonly string[]>;
  /**
   * The entries as stored, in leaf order, from `from` (default 0). May yield anything that a damaged database
   * holds.
   */
  stored(from?: number): AsyncIterable<LoggedEntry>;
  /**
   * Problems in how the engine keeps the entries outside the log, such as an index that hides some, in words;
   * empty for a sound store. Takes as long as reading everything.
   */
  check(): Promise<readonly string[]>;
  /**
   * Entries that their writer signed, that are not in the log, and that no live append will add: only in an
   * engine that commits an entry before its leaf.
   */
  leftOver?(): Promise<readonly Pick<StoredEntry, 'stream' | 'seq'>[]>;
  /** How many entries exist; fewer than the head's size if rows were removed. */
  count(): Promise<number>;
  /**
   * The largest size whose checkpoint, as this store remembers, the home place of this installation took; 0
   * for none. The memory is written with the next append after the checkpoint.
   */
  vouched(): Promise<number>;
  /** Records that the home place has a checkpoint of this size; durable with the next append. */
  vouch(size: number): void;
}

/** Selects rows of a projection. */
export interface RowQuery {
  /** Rows of this group only, such as `open` or an instance's name: each projection defines its groups. */
  readonly group?: string;
  readonly keyPrefix?: string;
  /** Rows with one of these keys only: thousands of rows are read some at a time. */
  readonly keys?: readonly string[];
  /** The maximum number of rows. */
  readonly limit?: number;
  /** By sort key; default `ascending`. */
  readonly order?: 'ascending' | 'descending';
}

export interface ProjectedRow {
  readonly key: string;
  readonly group: string;
  readonly sort: string;
  readonly value: Json;
}

/** The holder of a stream, for people. */
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
  /** Which clock stamps entries: this machine's, or the database's, which may run on another machine. */
  readonly stampedBy: 'machine' | 'database';
  /**
   * The clock that stamps entries, for times that must be the same on every machine. The database's clock is
   * asked once, advances by the time that passes here, and is never behind.
   */
  clock(): Promise<() => Date>;
  /**
   * Appends entries of one or several streams in one transaction. When the promise resolves, they are on disk
   * and in the log, and the new head is signed; when it rejects, none of them is there. Each stream needs its
   * hold among `holds`, otherwise `journal.unheld`; `store/log` needs none. A hold that another process took
   * over rejects with `journal.conflict`, a lost one with `journal.lost-hold`. A text that is a guarded
   * secret rejects with `journal.secret`, a body over 1 MiB or nested deeper than 100 levels with
   * `journal.too-large`, a value that is not JSON with `journal.bad-entry`. Lone surrogates become U+FFFD,
   * because UTF-8 cannot hold them. The returned bodies are those that were stored.
   *
   * After a failed write the journal refuses further writes (`journal.lost`). Only then may the entries turn
   * up later: a disk that reports an error may have kept the bytes.
   *
   * `wakes` reach the queue together with the entries, or not at all. A queue that is missing or broken never
   * fails an append: then the wake-ups are lost, and a worker's sweep finds what may go on.
   *
   * `under` are holds that have to last as well, although nothing is written to their streams: of a process
   * that has lost one, the entries are refused like those of its own stream.
   */
  append(
    entries: readonly NewEntry[],
    holds: readonly Hold[],
    wakes?: readonly Wake[],
    under?: readonly Hold[],
  ): Promise<readonly Entry[]>;
  /**
   * Calls back with the wake-ups of each append of this journal, once it is durable: a queue inside this
   * process has no other way to hear of them. The listener must not throw. Gives what ends it.
   */
  onWake(listener: (wakes: readonly Wake[]) => void): () => void;
  /** All entries of a stream from `fromSeq` (default 1), in order. An unknown stream is empty. */
  read(stream: StreamName, fromSeq?: number): Promise<readonly Entry[]>;
  head(stream: StreamName): Promise<Head>;
  /** Heads of all streams whose name begins with `prefix` (`run/`, `instance/`, or empty for all). */
  streams(prefix?: string): Promise<readonly Head[]>;
  /**
   * Entries of all streams from the leaf `from`, in order, in groups, as they become durable, from every
   * process; ends when the signal aborts. Entries of this process arrive at once.
   */
  follow(from: number, signal: AbortSignal): AsyncIterable<readonly Entry[]>;
  /**
   * The exclusive right to write a stream. Rejects with `journal.held`, naming the holder, if another process
   * has it. Never waits.
   */
  hold(stream: StreamName): Promise<Hold>;
  /**
   * The holder of a stream, found without taking it; undefined if it is free. Only a hint for people: the
   * stream may change hands before the answer is read.
   */
  holder(stream: StreamName): Promise<Holder | undefined>;
  /** From now on no entry may contain this secret, or its base64, hex, URL-encoded or JSON-escaped form. */
  guard(secret: Secret): void;
  readonly log: Log;
  /** The rows of a projection (projections/projection.ts), which are kept with the appends. */
  rows(projection: string, query?: RowQuery): Promise<readonly ProjectedRow[]>;
  close(): Promise<void>;
}

/**
 * "Look at this run", not before `at`; at once without it. Delivering it zero, one or five times changes
 * nothing but time: the truth is in the entries.
 */
export interface Wake {
  /** The id of the run, as in `run/<id>`. */
  readonly run: string;
  readonly at?: Date;
}

export type JournalReader = Pick<
  Journal,
  'clock' | 'read' | 'head' | 'streams' | 'follow' | 'holder' | 'log' | 'rows' | 'close'
>;

/** The fields of an object; an empty object for any other value. */
export function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  return isObject ? (value as Readonly<Record<string, unknown>>) : {};
}
