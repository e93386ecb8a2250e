import { chown, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { removeFolder } from '../home.ts';
import { emptyDatabases, type MakeEmpty } from './empty-database.ts';
import type { Database, Engine, Place, Server } from './engine.ts';
import { extractBaseBackup } from './extract.ts';
import type { Launcher } from './launcher.ts';
import { type Binaries, findBinaries, type LocatedPostgres } from './locate-postgres.ts';
import { startPostgres } from './postgres-process.ts';
import { configFile, openServer, writeConfig } from './server.ts';

interface PostgresEngineOptions {
  readonly located: LocatedPostgres;
  readonly launcher: Launcher;
  /** 0700, owned by the launcher's user; each database gets a folder in it. */
  readonly folder: string;
  /** Off makes tests faster; a crash of the machine may then lose the lab's data. */
  readonly fsync: boolean;
  /** The data folder of an empty database that the launcher's user can read; by default one is made. */
  readonly emptyDatabase?: string | undefined;
  /** Stops databases that are being made. */
  readonly signal: AbortSignal;
}

/** Real PostgreSQL servers, one per place: unix sockets only, in folders that are closed to others. */
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

/** A socket's path is short (`unix(7)`): of a name only what tells people which folder is whose. */
const LONGEST_NAME = 10;

function shortName(name: string): string {
  return name.replaceAll(/[^\w-]/gu, '_').slice(0, LONGEST_NAME);
}

async function makePrivate(folder: string, { user }: Launcher): Promise<void> {
  await mkdir(folder, { mode: 0o700 });
  if (user !== undefined) await chown(folder, user.uid, user.gid);
}
