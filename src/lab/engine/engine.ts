import type { Readable } from 'node:stream';

/** Runs SQL and gives the rows of the last statement; several statements are allowed when there are no parameters. */
export type Query = <Row extends object = Record<string, unknown>>(
  sql: string,
  parameters?: readonly unknown[],
) => Promise<Row[]>;

/** A consistent copy of a database, as one tar stream. */
export interface BaseBackup {
  /** The data folder, then an entry `backup_manifest` with the SHA-256 of every file. */
  readonly content: Readable;
  /** The manifest, once `content` has ended. */
  manifest(): string;
}

/** A running database server of its own. */
export interface Database {
  readonly name: string;
  readonly pid: number;
  /** Folder of its socket `.s.PGSQL.5432`; there is no TCP. */
  readonly socketFolder: string;
  readonly running: boolean;
  readonly query: Query;
  baseBackup(label: string): BaseBackup;
  /** Stops the server and removes its files. Safe to call twice. */
  remove(): Promise<void>;
}

/** What the lab needs from a database product. */
export interface Engine {
  /** `PostgreSQL 18.4` */
  readonly description: string;
  /** A new, empty database. */
  create(name: string): Promise<Database>;
  /** A database from a base backup; the promise resolves when it answers queries. */
  restore(name: string, content: Readable): Promise<Database>;
  /** Removes every database that still runs; call it after the signal that stops those being made. */
  close(): Promise<void>;
}
