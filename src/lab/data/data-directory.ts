import { join } from 'node:path';
import type { Place, Server } from '../engine/engine.ts';
import { type ArchivedDatabase, newArchivedDatabase, spanOf } from './archived-database.ts';
import type { LogStore } from './instance-data.ts';

/** What an instance is at the moment: which data folder, which server on it, which archive. */
export interface DataDirectory {
  readonly place: Place;
  /** Undefined: the log is not archived. */
  readonly store: LogStore | undefined;
  /** When each base backup was begun, by its label; milliseconds since 1970. */
  readonly labels: Map<string, number>;
  /** Data folders and archives made so far; numbers their names. */
  made: number;
  data: string;
  server: Server | undefined;
  archived: ArchivedDatabase | undefined;
}

/** An empty database, its server and, with a store, its archive. */
export async function firstDataDirectory(place: Place, store: LogStore | undefined): Promise<DataDirectory> {
  const data = join(place.folder, 'data-0');
  await place.initialise(data);
  const archived = store && (await newArchivedDatabase(place, store, 0));
  const directory: DataDirectory = {
    place,
    store,
    labels: new Map(),
    made: 0,
    data,
    server: undefined,
    archived,
  };
  const from = Date.now();
  const server = await place.start(data, archived?.archive.settings ?? {});
  if (archived !== undefined) {
    directory.archived = { ...archived, spans: [await spanOf(server.query, data, from)] };
  }
  await server.admit();
  directory.server = server;
  return directory;
}

export function isUp(server: Server | undefined): server is Server {
  return server?.running === true;
}

/** Starts the server on the present data; nothing happens when it runs. */
export async function startServer(directory: DataDirectory): Promise<void> {
  if (isUp(directory.server)) return;
  await stopServer(directory);
  const server = await directory.place.start(directory.data, directory.archived?.archive.settings ?? {});
  await server.admit();
  directory.server = server;
}

/** Nobody gets a connection from now on. */
export async function stopServer(directory: DataDirectory): Promise<void> {
  const { server } = directory;
  directory.server = undefined;
  // One that died by itself may have left children, which must not meet the next server.
  await (server?.running === true ? server.stop() : server?.kill());
}

export async function killServer(directory: DataDirectory): Promise<void> {
  const { server } = directory;
  directory.server = undefined;
  await server?.kill();
}
