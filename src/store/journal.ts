import type { Secret } from '../secret.ts';

/**
 * The port of the journal: the only truth about runs and instances. Two stores can stand behind it (SQLite for one
 * machine; PostgreSQL for a team), so everything is asynchronous although SQLite is not.
 */

/** Any JSON value; what an entry's body may hold. Secrets do not fit: their type does not serialise. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/** `run/<id>` or `instance/<name>`. */
export type StreamName = `run/${string}` | `instance/${string}`;

/** One row, as stored. `hash` is the lower-case hex SHA-256 over `prev` and the canonical form of the rest. */
export interface Entry {
  readonly stream: StreamName;
  /** 1-based and gapless inside a stream. */
  readonly seq: number;
  /** RFC 3339 UTC with milliseconds, by this machine's clock. */
  readonly at: string;
  /** Who acted: the operator's name from the config, or the login name. */
  readonly by: string;
  readonly type: string;
  readonly body: Json;
  /** The hash of the entry before it; 64 zeros for the first. */
  readonly prev: string;
  readonly hash: string;
}

export interface NewEntry {
  readonly stream: StreamName;
  readonly type: string;
  readonly body: Json;
}

/** The last entry of a stream: its length and hash. An empty stream is `{seq: 0, hash: ZERO_HASH}`. */
export interface Head {
  readonly stream: StreamName;
  readonly seq: number;
  readonly hash: string;
}

export const ZERO_HASH = '0'.repeat(64);

/** Exclusive right to write a stream, freed by the kernel when the process dies. */
export interface Hold {
  release(): void;
}

export interface Journal {
  /**
   * Appends entries, of one or several streams, in one transaction; they are on disk when the promise resolves
   * and none of them is when it rejects. `expected` is the head this writer believes in for each stream it
   * names; a stream that has moved on rejects with `journal.conflict`. A text that is a guarded secret rejects with
   * `journal.secret`, a body over 1 MiB or nested deeper than 100 levels with `journal.too-large`, what is not JSON with
   * `journal.bad-entry`. Lone surrogates become U+FFFD: UTF-8 cannot hold them. The returned bodies are what was stored.
   *
   * After a failed write the journal refuses to go on (`journal.lost`). Only then may the entries turn up later: a disk
   * that reports an error may have kept the bytes.
   */
  append(entries: readonly NewEntry[], expected?: readonly Head[]): Promise<readonly Entry[]>;
  /** All entries of a stream from `fromSeq` (default 1) on, in order. An unknown stream is empty. */
  read(stream: StreamName, fromSeq?: number): Promise<readonly Entry[]>;
  head(stream: StreamName): Promise<Head>;
  /** Heads of all streams whose name begins with `prefix` (`run/`, `instance/`, or empty for all). */
  streams(prefix?: string): Promise<readonly Head[]>;
  /** From now on no entry may contain this secret, nor its base64, hex, URL-encoded or JSON-escaped form. */
  guard(secret: Secret): void;
  /** The exclusive right to write a stream; rejects with `journal.held`, naming the holder, when another process has it. */
  hold(stream: StreamName): Promise<Hold>;
  /** Calls back after every durable append, in order, in this process. Gives the unsubscribe function. */
  onAppended(listener: (entries: readonly Entry[]) => void): () => void;
  close(): Promise<void>;
}

/** What an audit needs: it can look and never write. */
export type JournalReader = Pick<Journal, 'read' | 'head' | 'streams' | 'close'>;
