import type { Secret } from '../base/secret.ts';

/**
 * The port of the store: the only truth about runs and instances. Two engines stand behind it, SQLite in a
 * home for one machine and PostgreSQL for a team; one contract suite runs against both
 * (test/store/contract.ts). Nobody outside of src/store gets a database handle or the folder it lies in.
 */

/** Any JSON value; what an entry's body may hold. Secrets do not fit: their type does not serialise. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/** `run/<id>`, `instance/<name>` (its ledger), `notify/outbox`, or `store/log`: of the store itself. */
export type StreamName = `run/${string}` | `instance/${string}` | typeof OUTBOX_STREAM | typeof LOG_STREAM;

/** What the store says of itself: its origin, the keys that sign, losses that a person accepted. */
export const LOG_STREAM = 'store/log';

/** Which notifications were tried, and since when each target gets them. */
export const OUTBOX_STREAM = 'notify/outbox';

/** One fact on record: a leaf of the log. */
export interface Entry {
  /** The number of its leaf, counted from 0 over all streams, in order of append. */
  readonly index: number;
  readonly stream: StreamName;
  /** 1-based and gapless inside a stream. */
  readonly seq: number;
  /** RFC 3339 UTC with milliseconds, by the clock of the machine, or of the database (PostgreSQL). */
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
  /** Grows with each hold of this resource. Each append proves it: that of a holder before is refused. */
  readonly token: number;
  /**
   * Aborted, for the reason `journal.lost-hold`, as soon as the right may have passed to somebody else: a
   * lease that was not renewed in time. No byte of a changing call may leave after that.
   */
  readonly lost: AbortSignal;
  /**
   * For how long it surely lasts from now on, in milliseconds, without another renewal; `Infinity` where the
   * kernel keeps it. Reads the clock at each call, so that it is right also after the process was stopped.
   */
  lasts(): number;
  /** Gives it back. Does nothing the second time; never throws. */
  release(): Promise<void>;
}

/** The signed head of the log. */
export interface LogHead {
  /** How many leaves. */
  readonly size: number;
  /** The root of the tree, 64 lower-case hex digits. */
  readonly root: string;
  /**
   * The checkpoint that the newest append left in the store (log/checkpoint.ts), signed in the same
   * transaction. Undefined in an empty store.
   */
  readonly note: string | undefined;
}

/** What of an entry is hashed. `body` is canonical text already (canonical.ts). */
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

/** An entry as it is stored, with what is stored of the tree at its leaf. */
export interface LoggedEntry extends StoredEntry {
  /** The hashes of the subtrees that the leaf completes (log/merkle.ts), from level 1 up, hex, joined. */
  readonly tree: string;
}

/** The one Merkle tree over all entries. */
export interface Log {
  /** The name of this log, `lifeboat/<16 hex digits>`, drawn at random; undefined in an empty store. */
  origin(): Promise<string | undefined>;
  head(): Promise<LogHead>;
  /** The root of the first `size` leaves, hex. Rejects with `journal.damaged` where nodes are missing. */
  rootAt(size: number): Promise<string>;
  /** RFC 6962 audit path, each hash in hex. */
  inclusion(index: number, size: number): Promise<readonly string[]>;
  /** RFC 6962 consistency proof, each hash in hex. */
  consistency(from: number, size: number): Promise<readonly string[]>;
  /**
   * The entries as they are stored, in order of their leaves, from `from` (default 0) on. May give anything
   * that a damaged database holds.
   */
  stored(from?: number): AsyncIterable<LoggedEntry>;
  /**
   * What the engine finds wrong with how it keeps the entries beside the log, such as an index that hides
   * some, in words; empty for a sound store. Takes as long as reading everything.
   */
  check(): Promise<readonly string[]>;
  /**
   * Entries that their writer has signed, that are no part of the log, and that no live append will make one:
   * of an engine that commits an entry before its leaf.
   */
  leftOver?(): Promise<readonly Pick<StoredEntry, 'stream' | 'seq'>[]>;
  /** How many entries are really there; fewer than the head's size when rows were removed. */
  count(): Promise<number>;
  /**
   * The largest size of which this store remembers that the home place of this installation had taken its
   * checkpoint; 0 for none. The memory is written with the next append after the checkpoint.
   */
  vouched(): Promise<number>;
  /** Remembers that a checkpoint of this size lies in the home place; durable with the next append. */
  vouch(size: number): void;
}

/** Who reads a projection asks for these. */
export interface RowQuery {
  /** Rows of this group only (`open`, an instance's name: each projection says what its groups are). */
  readonly group?: string;
  /** Rows whose key begins so. */
  readonly keyPrefix?: string;
  /** At most so many. */
  readonly limit?: number;
  /** By their sort key; default `ascending`. */
  readonly order?: 'ascending' | 'descending';
}

export interface ProjectedRow {
  readonly key: string;
  readonly group: string;
  readonly sort: string;
  readonly value: Json;
}

/** Who holds a stream, for people. */
export interface Holder {
  /** The operator's name, where the store keeps it. */
  readonly by?: string | undefined;
  readonly pid: number;
  readonly host: string;
  /** RFC 3339. */
  readonly since: string;
  /** Whether it is this very process. */
  readonly isHere: boolean;
}

export interface Journal {
  /** Whose clock stamps entries: this machine's, or the database's, which may be on another one. */
  readonly stampedBy: 'machine' | 'database';
  /**
   * The clock that stamps entries, for what ends at the same moment on every machine. The database's is asked
   * once, goes on by the time that passes here, and is never behind.
   */
  clock(): Promise<() => Date>;
  /**
   * Appends entries, of one or several streams, in one transaction; they are on disk, in the log, and its new
   * head is signed when the promise resolves, and none of them is when it rejects. Each stream needs its hold
   * among `holds`, but for `store/log`, which needs none: otherwise `journal.unheld`. A hold that another
   * process has taken over rejects with `journal.conflict`, one that is lost with `journal.lost-hold`. A text
   * that is a guarded secret rejects with `journal.secret`, a body over 1 MiB or nested deeper than 100
   * levels with `journal.too-large`, what is not JSON with `journal.bad-entry`. Lone surrogates become
   * U+FFFD: UTF-8 cannot hold them. The returned bodies are what was stored.
   *
   * After a failed write the journal refuses to go on (`journal.lost`). Only then may the entries turn up
   * later: a disk that reports an error may have kept the bytes.
   */
  append(entries: readonly NewEntry[], holds: readonly Hold[]): Promise<readonly Entry[]>;
  /** All entries of a stream from `fromSeq` (default 1) on, in order. An unknown stream is empty. */
  read(stream: StreamName, fromSeq?: number): Promise<readonly Entry[]>;
  head(stream: StreamName): Promise<Head>;
  /** Heads of all streams whose name begins with `prefix` (`run/`, `instance/`, or empty for all). */
  streams(prefix?: string): Promise<readonly Head[]>;
  /**
   * Entries of all streams from the leaf `from` on, in order, in groups, as they become durable, whichever
   * process appended them; ends when the signal does. Those that this process appends arrive at once.
   */
  follow(from: number, signal: AbortSignal): AsyncIterable<readonly Entry[]>;
  /**
   * The exclusive right to write a stream; rejects with `journal.held`, naming the holder, when another
   * process has it. Never waits for it.
   */
  hold(stream: StreamName): Promise<Hold>;
  /**
   * Who holds a stream now, found out without taking it; undefined where nobody does. A hint for people, and
   * no proof: it may have changed hands by the time it is read.
   */
  holder(stream: StreamName): Promise<Holder | undefined>;
  /** From now on no entry may contain this secret, nor its base64, hex, URL-encoded or JSON-escaped form. */
  guard(secret: Secret): void;
  readonly log: Log;
  /** The rows of a projection (projections/projection.ts), which were kept with the appends. */
  rows(projection: string, query?: RowQuery): Promise<readonly ProjectedRow[]>;
  close(): Promise<void>;
}

/** What a reader gets: it can look and never write. */
export type JournalReader = Pick<
  Journal,
  'clock' | 'read' | 'head' | 'streams' | 'follow' | 'holder' | 'log' | 'rows' | 'close'
>;

/** The fields of a value that should be an object, and none where it is not. */
export function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  return isObject ? (value as Readonly<Record<string, unknown>>) : {};
}
