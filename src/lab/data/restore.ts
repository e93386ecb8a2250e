import { join } from 'node:path';
import type { Readable } from 'node:stream';
import type { Server } from '../engine/engine.ts';
import { removeFolder } from '../home.ts';
import { lockOutAppUsers } from './app-users.ts';
import { labelOf } from './base-backup.ts';
import { eraOf, type Incarnation, newIncarnation, routeOf } from './incarnation.ts';
import { archiveError } from './log-archive.ts';
import { recoverBackup, recoverTo } from './recovery.ts';
import { isUp, type Seat, startServer, stopServer } from './seat.ts';

/**
 * Replaces the data of an instance by a base backup. With archiving, an own backup of the present incarnation opens a new
 * era in the same archive; any other begins a new incarnation, and the old archive is deleted.
 */
export async function restoreBackup(seat: Seat, content: Readable, origin: 'own' | 'other'): Promise<void> {
  const { place, store, incarnation: present } = seat;
  const data = nextData(seat);
  await place.extract(content, data);
  if (store === undefined || present === undefined) {
    return await replace(seat, data, { incarnation: undefined, start: () => place.start(data, {}) });
  }
  const begun = seat.labels.get((await labelOf(data)) ?? '');
  const goesOn = origin === 'own' && begun !== undefined && begun >= present.since;
  const incarnation = goesOn ? present : await newIncarnation(place, store, seat.made);
  await replace(seat, data, { incarnation, start: () => recoverBackup(place, data, incarnation) });
}

/** Replaces the data of an instance by its own at a time. Rejects with `lab.time` outside of what can be reached. */
export async function restoreTo(
  seat: Seat,
  time: Date,
  open: (backupId: string) => Readable,
): Promise<{ readonly backupId: string }> {
  const { place, incarnation } = seat;
  if (incarnation === undefined) throw archiveError('this instance has none');
  const route = routeOf(incarnation, time);
  const data = nextData(seat);
  await place.extract(open(route.backup.id), data);
  await replace(seat, data, {
    incarnation,
    start: () => recoverTo(place, data, incarnation, { route, time }),
  });
  return { backupId: route.backup.id };
}

interface Next {
  /** The one that the new server belongs to. */
  readonly incarnation: Incarnation | undefined;
  /** Starts the server on the new data; only the superuser gets in. */
  start(): Promise<Server>;
}

/** Takes the new data folder instead of the old one. When that fails, everything is as it was. */
async function replace(seat: Seat, data: string, next: Next): Promise<void> {
  const { data: oldData, incarnation: old } = seat;
  const wasUp = isUp(seat.server);
  const goesOn = next.incarnation?.archive === old?.archive;
  let salvaged: readonly string[] = [];
  let server: Server | undefined;
  try {
    await stopServer(seat);
    if (goesOn && old !== undefined) salvaged = await salvage(seat, old);
    // Rounded up: whatever the old server committed was before.
    const from = Date.now() + 1;
    server = await next.start();
    await lockOutAppUsers(server.query);
    const era = await eraOf(server.query, data, from);
    await server.admit();
    // Backups may have been kept or forgotten meanwhile.
    const base = goesOn ? seat.incarnation : next.incarnation;
    seat.incarnation = base && { ...base, eras: [...base.eras, era] };
    seat.data = data;
    seat.server = server;
  } catch (error) {
    await server?.stop();
    await old?.archive.drop(salvaged);
    if (!goesOn) await next.incarnation?.archive.remove();
    await removeFolder(data);
    if (wasUp) await startServer(seat).catch(() => undefined);
    throw error;
  }
  await removeFolder(oldData);
  if (!goesOn) await old?.archive.remove();
}

/** The end of the old log, so that every moment of the era that is over can be had back. */
async function salvage({ place, data }: Seat, { archive, eras }: Incarnation): Promise<string[]> {
  const timeline = eras.at(-1)?.timeline;
  return timeline === undefined ? [] : await place.track(archive.salvage(data, timeline));
}

function nextData(seat: Seat): string {
  seat.made += 1;
  return join(seat.place.folder, `data-${seat.made}`);
}
