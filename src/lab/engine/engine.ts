import { chownSync, closeSync, mkdirSync, openSync, readdirSync, writeFileSync } from 'node:fs';
import { access, chown, mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type ExtractEvents, extract, type Header } from 'tar-stream';
import { LifeboatError } from '../../base/errors.ts';
import { show } from '../../base/text.ts';
import { removeFolder } from '../home.ts';
import { emptyDatabases, type MakeEmpty } from './empty-database.ts';
import type { EngineUser, Launcher } from './launcher.ts';
import { type Binaries, findBinaries, type LocatedPostgres } from './locate-postgres.ts';
import { configFile, openServer, startPostgres, writeConfig } from './server.ts';

interface PostgresEngineOptions {
  readonly located: LocatedPostgres;
  readonly launcher: Launcher;
  /** 0700, owned by the launcher's user; each database gets a folder in it. */
  readonly folder: string;
  /** Off: faster tests, but a machine crash may lose the lab's data. */
  readonly fsync: boolean;
  /** An empty database's data folder, readable for the launcher's user; by default one is made. */
  readonly emptyDatabase?: string | undefined;
  /** Stops databases that are being made. */
  readonly signal: AbortSignal;
}

/** Real servers, one per place: only unix sockets, in folders closed to others. */
export async function makePostgresEngine(options: PostgresEngineOptions): Promise<Engine> {
  const binaries = await findBinaries(options.launcher, options.folder, options.located);
  const makeEmpty = emptyDatabases(options.launcher, binaries, {
    template: options.emptyDatabase ?? join(options.folder, 'empty'),
    isMade: options.emptyDatabase !== undefined,
    signal: options.signal,
  });
  const places = new Set<Place>();
  let claims = 0;

  const claim = async (name: string): Promise<Place> => {
    options.signal.throwIfAborted();
    claims += 1;
    const folder = join(options.folder, `${claims}-${shortName(name)}`);
    const place = makePlace(folder, { ...options, binaries, makeEmpty });
    places.add(place);
    await place.track(makePrivate(folder, options.launcher));
    return place;
  };
  const restore = async (name: string, content: Readable): Promise<Database> => {
    const place = await claim(name);
    const data = join(place.folder, 'data');
    try {
      await place.extract(content, data);
      const { query } = await place.start(data, {});
      return { query, remove: place.remove };
    } catch (error) {
      await place.remove();
      throw error;
    }
  };
  return {
    description: `PostgreSQL ${binaries.version}`,
    claim,
    restore,
    close: async () => {
      await Promise.all([...places].map((place) => place.remove()));
    },
  };
}

interface PlaceOptions extends PostgresEngineOptions {
  readonly binaries: Binaries;
  readonly makeEmpty: MakeEmpty;
}

function makePlace(folder: string, options: PlaceOptions): Place {
  const { binaries, launcher, fsync, makeEmpty } = options;
  const removal = new AbortController();
  const signal = AbortSignal.any([options.signal, removal.signal]);
  const servers = new Set<Server>();
  const works = new Set<Promise<unknown>>();

  const track = async <T>(work: Promise<T>): Promise<T> => {
    works.add(work);
    try {
      return await work;
    } finally {
      works.delete(work);
    }
  };
  const start = async (data: string, settings: Readonly<Record<string, string>>) => {
    signal.throwIfAborted();
    await writeConfig(folder, { major: binaries.major, fsync, settings });
    const files = { data, configFile: configFile(folder), signal };
    const server = await openServer(folder, await startPostgres(launcher, binaries.postgres, files));
    for (const other of servers) if (!other.running) servers.delete(other);
    servers.add(server);
    return server;
  };
  const tidyUp = async () => {
    removal.abort();
    await Promise.allSettled(works);
    await Promise.all([...servers].map((server) => server.stop()));
    await removeFolder(folder);
  };
  let removed: Promise<void> | undefined;
  return {
    folder,
    signal,
    track,
    makeFolder: async (name) => {
      signal.throwIfAborted();
      await makePrivate(join(folder, name), launcher);
      return join(folder, name);
    },
    initialise: (data) => track(makeEmpty(data, signal)),
    extract: (content, data) => track(extractBaseBackup(content, data, launcher.user, signal)),
    start: (data, settings) => track(start(data, settings)),
    remove: () => {
      removed ??= tidyUp();
      return removed;
    },
  };
}

/** Socket paths are limited (`unix(7)`). */
const LONGEST_NAME = 10;

function shortName(name: string): string {
  return name.replaceAll(/[^\w-]/gu, '_').slice(0, LONGEST_NAME);
}

async function makePrivate(folder: string, { user }: Launcher): Promise<void> {
  await mkdir(folder, { mode: 0o700 });
  if (user !== undefined) await chown(folder, user.uid, user.gid);
}

/** Returns the rows of the last statement; several are allowed without parameters. */
export type Query = <Row extends object = Record<string, unknown>>(
  sql: string,
  parameters?: readonly unknown[],
) => Promise<Row[]>;

/** A consistent copy of a database, as one tar stream. */
export interface BaseBackup {
  /** The data folder, then an entry `backup_manifest` with the SHA-256 of every file. */
  readonly content: Readable;
  /** Once `content` has ended. */
  manifest(): string;
}

export interface Server {
  readonly pid: number;
  /** False once the process has ended. */
  readonly running: boolean;
  /** As the superuser. */
  readonly query: Query;
  baseBackup(label: string): BaseBackup;
  /** Admits every user, by password; before, only the superuser. Resolves once the server acts on it. */
  admit(): Promise<void>;
  /** Fast shutdown: cuts off clients, loses nothing committed. Resolves when the process is gone. */
  stop(): Promise<void>;
  /** All processes, without notice. Resolves when they are gone. */
  kill(): Promise<void>;
}

/** Beyond the engine's own, as in `postgresql.conf`. */
export type Settings = Readonly<Record<string, string>>;

/** For one database: its server's socket, and the data folders that a switch needs. */
export interface Place {
  /** Also of the socket `.s.PGSQL.5432`; there is no TCP. */
  readonly folder: string;
  /** Aborted by `remove` and by the end of the engine. */
  readonly signal: AbortSignal;
  /** Only this user and the database's user can see it; returns its path. */
  makeFolder(name: string): Promise<string>;
  /** An empty database in a new data folder. Rejects with `lab.postgres`. */
  initialise(data: string): Promise<void>;
  /** From a base backup. Rejects with `lab.content` and then leaves nothing. */
  extract(content: Readable, data: string): Promise<void>;
  /** Admits only the superuser. Rejects with `lab.postgres` if the server does not come up. */
  start(data: string, settings: Settings): Promise<Server>;
  /** `remove` waits for this work before it deletes files. */
  track<T>(work: Promise<T>): Promise<T>;
  /** Stops what runs and removes the folder. Idempotent. */
  remove(): Promise<void>;
}

/** Temporary, beside the instances. */
export interface Database {
  readonly query: Query;
  /** Stops the server and removes its files. Idempotent. */
  remove(): Promise<void>;
}

export interface Engine {
  /** Such as `PostgreSQL 18.4`. */
  readonly description: string;
  /** A new folder, with a short and unique name made from `name`. */
  claim(name: string): Promise<Place>;
  /** From a base backup; resolves when the database answers queries. */
  restore(name: string, content: Readable): Promise<Database>;
  /** Removes every place; call it after the signal that stops those being made. */
  close(): Promise<void>;
}

/**
 * Unpacks a base backup into a new folder: 0700 and 0600, owned by the database's user. Anything but files
 * and folders (links, devices, paths that leave the folder, a cut tar) rejects with `lab.content`.
 */
export async function extractBaseBackup(
  content: Readable,
  folder: string,
  owner: EngineUser | undefined,
  signal: AbortSignal,
): Promise<void> {
  try {
    await unpackTar(content, folder, signal);
    await access(join(folder, 'PG_VERSION'));
    // ALTER SYSTEM settings belong to the source, including its archive, and would override ours.
    await writeFile(join(folder, 'postgresql.auto.conf'), '', { mode: 0o600 });
    handOver(folder, owner);
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    signal.throwIfAborted();
    throw unusable(show(error instanceof Error ? error.message : String(error)), error);
  }
}

/** A thousand files take milliseconds in one go, and tens of them one by one on another thread. */
function handOver(folder: string, owner: EngineUser | undefined): void {
  if (owner === undefined) return;
  for (const path of ['', ...readdirSync(folder, { recursive: true, encoding: 'utf8' })])
    chownSync(join(folder, path), owner.uid, owner.gid);
}

function unusable(why: string, cause: unknown): LifeboatError {
  return new LifeboatError('lab.content', `the backup is not a base backup: ${why}`, {
    hints: ['a scratch instance takes the decrypted and unzipped tar of a backup of this service'],
    cause,
  });
}

/**
 * Unpacks a tar into a new folder (folders 0700, files 0600); returns the number of entries. Rejects for
 * anything but files and folders, a path that leaves the folder, a repeated name, and with errors of the
 * stream, the disk or the signal. The caller removes what was written.
 */
export async function unpackTar(content: Readable, folder: string, signal: AbortSignal): Promise<number> {
  const tar = extract();
  const arrived = pipeline(content, tar, { signal });
  // Every stream error also ends the loop, and is thrown below.
  arrived.catch(() => undefined);
  let entries = 0;
  try {
    mkdirSync(folder, { mode: 0o700 });
    for await (const entry of tar) {
      await writeEntry(entry, folder);
      entries += 1;
    }
  } finally {
    tar.destroy();
  }
  await arrived;
  return entries;
}

type Entry = ExtractEvents['entry'][1];

/**
 * No link is ever made, so no path leads through one. Synchronous disk calls: a backup is a thousand small
 * files, and handing each call to another thread takes several times as long as the call.
 */
async function writeEntry(entry: Entry, folder: string): Promise<void> {
  const { name } = entry.header;
  const parts = entryPath(name);
  if (parts === undefined) throw refused(name, 'its path leaves the folder');
  // The library reads a size that is not a number as null, and would wait for that many bytes.
  if (!Number.isSafeInteger(entry.header.size)) throw refused(name, 'its size is not a number');
  const kind = kindOf(entry.header);
  if (kind === undefined) throw refused(name, 'it is neither a file nor a folder');
  const path = join(folder, ...parts);
  mkdirSync(kind === 'folder' ? path : dirname(path), { recursive: true, mode: 0o700 });
  if (kind === 'folder') {
    entry.resume();
    return;
  }
  const file = openSync(path, 'wx', 0o600);
  try {
    for await (const bytes of entry as AsyncIterable<Uint8Array>) writeFileSync(file, bytes);
  } finally {
    closeSync(file);
  }
}

/** Below the target folder; empty for the folder itself. Undefined if absolute, with `..`, or with a NUL. */
function entryPath(name: string): readonly string[] | undefined {
  if (name === '' || name.startsWith('/') || name.includes('\0')) return undefined;
  const parts = name.split('/').filter((part) => part !== '' && part !== '.');
  return parts.includes('..') ? undefined : parts;
}

/** For a sparse file (GNU, in pax records) the tar has a map of holes, not the file. */
function kindOf(header: Header): 'file' | 'folder' | undefined {
  if (Object.keys(header.pax ?? {}).some((keyword) => keyword.startsWith('GNU.sparse.'))) return undefined;
  if (header.type === 'directory') return 'folder';
  return header.type === 'file' || header.type === 'contiguous-file' ? 'file' : undefined;
}

function refused(name: string, why: string): Error {
  return new Error(`the tar entry "${show(name, 120)}" is refused: ${why}`);
}
