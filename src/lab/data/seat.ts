import { join } from 'node:path';
import type { Place, Server } from '../engine/engine.ts';
import { eraOf, type Incarnation, newIncarnation } from './incarnation.ts';
import type { LogStore } from './instance-data.ts';

/** What an instance is at the moment: which data folder, which server on it, which archive. */
export interface Seat {
  readonly place: Place;
  /** Undefined: the log is not archived. */
  readonly store: LogStore | undefined;
  /** When each base backup was begun, by its label; milliseconds since 1970. */
  readonly labels: Map<string, number>;
  /** Data folders and archives made so far; numbers their names. */
  made: number;
  data: string;
  server: Server | undefined;
  incarnation: Incarnation | undefined;
}

/** An empty database, its server and, with a store, its archive. */
export async function firstSeat(place: Place, store: LogStore | undefined): Promise<Seat> {
  const data = join(place.folder, 'data-0');
  await place.initialise(data);
  const incarnation = store && (await newIncarnation(place, store, 0));
  const seat: Seat = { place, store, labels: new Map(), made: 0, data, server: undefined, incarnation };
  const from = Date.now();
  const server = await place.start(data, incarnation?.archive.settings ?? {});
  if (incarnation !== undefined) {
    seat.incarnation = { ...incarnation, eras: [await eraOf(server.query, data, from)] };
  }
  await server.admit();
  seat.server = server;
  return seat;
}

export function isUp(server: Server | undefined): server is Server {
  return server?.running === true;
}

/** Starts the server on the present data; nothing happens when it runs. */
export async function startServer(seat: Seat): Promise<void> {
  if (isUp(seat.server)) return;
  await stopServer(seat);
  const server = await seat.place.start(seat.data, seat.incarnation?.archive.settings ?? {});
  await server.admit();
  seat.server = server;
}

/** Nobody gets a connection from now on. */
export async function stopServer(seat: Seat): Promise<void> {
  const { server } = seat;
  seat.server = undefined;
  // One that died by itself may have left children, which must not meet the next server.
  await (server?.running === true ? server.stop() : server?.kill());
}

export async function killServer(seat: Seat): Promise<void> {
  const { server } = seat;
  seat.server = undefined;
  await server?.kill();
}
