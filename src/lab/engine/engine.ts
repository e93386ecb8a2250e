import type { Readable } from 'node:stream';

/** Runs SQL and gives the rows of the last statement; several are allowed without parameters. */
export type Query = <Row extends object = Record<string, unknown>>(
  sql: string,
  parameters?: readonly unknown[],
) => Promise<Row[]>;

/** Length of a file of the log: 1 MB instead of 16, since a backup carries at least one. */
export const SEGMENT_BYTES = 1024 * 1024;

/** A consistent copy of a database, as one tar stream. */
export interface BaseBackup {
  /** The data folder, then an entry `backup_manifest` with the SHA-256 of every file. */
  readonly content: Readable;
  /** The manifest, once `content` has ended. */
  manifest(): string;
}

/** A running database server. */
export interface Server {
  readonly pid: number;
  /** False once the process has ended, however it did. */
  readonly running: boolean;
  /** As the superuser. */
  readonly query: Query;
  baseBackup(label: string): BaseBackup;
  /**
   * Lets every user in, by password; only the superuser was let in before. Resolves when the server acts on
   * it.
   */
  admit(): Promise<void>;
  /** Fast shutdown: clients are cut off, nothing committed is lost. Resolves when the process is gone. */
  stop(): Promise<void>;
  /** Kills all processes of the server without notice. Resolves when they are gone. */
  kill(): Promise<void>;
}

/** Settings of a server beyond the engine's own: names and values of `postgresql.conf`. */
export type Settings = Readonly<Record<string, string>>;

/**
 * A folder for one database: the socket of its server, and as many data folders as it takes to change between
 * them.
 */
export interface Place {
  /** Also the folder of the socket `.s.PGSQL.5432`; there is no TCP. */
  readonly folder: string;
  /** Aborted by `remove` and by the end of the engine. */
  readonly signal: AbortSignal;
  /** A new folder that only this user and the database's see; gives its path. */
  makeFolder(name: string): Promise<string>;
  /** An empty database in a new data folder. Rejects with `lab.postgres`. */
  initialise(data: string): Promise<void>;
  /** A data folder from a base backup. Rejects with `lab.content` and leaves nothing then. */
  extract(content: Readable, data: string): Promise<void>;
  /**
   * Starts a server that only the superuser reaches. Rejects with `lab.postgres` when it does not come up.
   */
  start(data: string, settings: Settings): Promise<Server>;
  /** `remove` waits for this work before it takes the files away. */
  track<T>(work: Promise<T>): Promise<T>;
  /** Stops what runs and removes the folder. Safe to call twice. */
  remove(): Promise<void>;
}

/** A database beside the instances, for a look. */
export interface Database {
  readonly query: Query;
  /** Stops the server and removes its files. Safe to call twice. */
  remove(): Promise<void>;
}

/** What the lab needs from a database product. */
export interface Engine {
  /** `PostgreSQL 18.4` */
  readonly description: string;
  /** A new folder for a database; its name is made from `name`, short and unique. */
  claim(name: string): Promise<Place>;
  /** A database from a base backup; the promise resolves when it answers queries. */
  restore(name: string, content: Readable): Promise<Database>;
  /** Removes every place; call it after the signal that stops those being made. */
  close(): Promise<void>;
}
