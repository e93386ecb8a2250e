import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { LifeboatError } from '../../base/errors.ts';
import type { Place, Query, Server } from '../engine/engine.ts';
import {
  type Ancestor,
  firstSegmentNeeded,
  historyName,
  type Interval,
  type KeptBackup,
  parseHistory,
  type Route,
  reachable,
  routeTo,
  segmentAt,
  segmentOf,
  type TimelineSpan,
} from './history.ts';
import type { LogStore } from './instance-data.ts';
import { archiveError, type LogArchive, openLogArchive } from './log-archive.ts';

/** Of an instance: data folder, server, archive. */
export interface DataDirectory {
  readonly place: Place;
  readonly store: LogStore | undefined;
  /** The begin of each base backup, by label; milliseconds since 1970. */
  readonly labels: Map<string, number>;
  /** How many data folders and archives were made, for their names. */
  made: number;
  data: string;
  server: Server | undefined;
  archived: ArchivedDatabase | undefined;
}

/** With an empty database; with a store, also an archive. */
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

/** Does nothing if the server runs. */
export async function startServer(directory: DataDirectory): Promise<void> {
  if (isUp(directory.server)) return;
  await stopServer(directory);
  const server = await directory.place.start(directory.data, directory.archived?.archive.settings ?? {});
  await server.admit();
  directory.server = server;
}

export async function stopServer(directory: DataDirectory): Promise<void> {
  const { server } = directory;
  directory.server = undefined;
  // A dead server may have left children, which must not meet the next one.
  await (server?.running === true ? server.stop() : server?.kill());
}

export async function killServer(directory: DataDirectory): Promise<void> {
  const { server } = directory;
  directory.server = undefined;
  await server?.kill();
}

/** Since its creation, or its arrival from another instance, across all restores within its archive. */
export interface ArchivedDatabase {
  readonly archive: LogArchive;
  /** Milliseconds since 1970. */
  readonly since: number;
  readonly spans: readonly TimelineSpan[];
  readonly backups: readonly KeptBackup[];
  /** The archived end of the current timeline's log; milliseconds since 1970. */
  readonly archivedTo: number;
}

export async function newArchivedDatabase(
  place: Place,
  store: LogStore,
  number: number,
): Promise<ArchivedDatabase> {
  const archive = await openLogArchive(place, store, number);
  return { archive, since: Date.now(), spans: [], backups: [], archivedTo: 0 };
}

/** The span that begins when a server is started on a data folder, not earlier than `from`. */
export async function spanOf(query: Query, data: string, from: number): Promise<TimelineSpan> {
  const [row] = await query<{ file: string }>('select pg_walfile_name(pg_current_wal_lsn()) as file');
  const timeline = segmentOf(row?.file ?? '')?.timeline ?? 0;
  const ancestors = timeline === 1 ? [] : await readAncestors(data, timeline);
  return { timeline, from, ancestors };
}

async function readAncestors(data: string, timeline: number): Promise<Ancestor[]> {
  return parseHistory(await readFile(join(data, 'pg_wal', historyName(timeline)), 'utf8'));
}

/**
 * Archives the log written so far, and returns the time up to which it can be restored. A recovery to a time
 * needs a later commit, so this makes and archives one.
 */
export async function archiveLog(server: Server, archive: LogArchive): Promise<number> {
  const { query } = server;
  // Rounded up, so that everything committed before counts; the sleep makes this commit later still.
  const [before] = await query<{ at: string }>(
    `select ceil(extract(epoch from clock_timestamp()) * 1000) as at, pg_sleep(0.002), pg_current_xact_id()`,
  );
  const [log] = await query<{ file: string }>('select pg_walfile_name(pg_switch_wal()) as file');
  if (before === undefined || log === undefined)
    throw archiveError('the server does not say where its log is');
  await archive.arrival(log.file, server);
  return Number(before.at);
}

export function reachOf(archived: ArchivedDatabase): Interval | undefined {
  return reachable(archived, archived.archivedTo);
}

/** Throws `lab.time` if the time cannot be reached. */
export function routeOf(archived: ArchivedDatabase, time: Date): Route {
  const reach = reachOf(archived);
  const at = time.getTime();
  const route = routeTo(archived, at);
  if (reach !== undefined && route !== undefined && at >= reach.start && at <= reach.end) return route;
  throw new LifeboatError('lab.time', 'the time is outside of the range that can be restored', {
    hints: ['choose a time between the start and the end of the range'],
    evidence:
      reach === undefined
        ? {}
        : { start: new Date(reach.start).toISOString(), end: new Date(reach.end).toISOString() },
  });
}

/** The stored files that a recovery may need. Throws `lab.archive` if one in the middle is missing. */
export function filesFor({ archive }: ArchivedDatabase, { backup, span }: Route): string[] {
  // Log that an ancestor wrote after the branch is not part of this history.
  const last = new Map([
    [span.timeline, Number.POSITIVE_INFINITY],
    ...span.ancestors.map(({ timeline, end }) => [timeline, segmentAt(end)] as const),
  ]);
  // The backup contains the log of its own time.
  const first = segmentAt(backup.end);
  const names = archive.names().filter((name) => {
    const segment = segmentOf(name);
    return (
      segment === undefined ||
      (segment.number >= first && segment.number <= (last.get(segment.timeline) ?? -1))
    );
  });
  const numbers = new Set(names.flatMap((name) => segmentOf(name)?.number ?? []));
  for (const number of numbers) {
    if (number > first && !numbers.has(number - 1)) throw archiveError(`segment ${number - 1} is missing`);
  }
  return names;
}

/** Deletes log older than the first kept backup. Histories stay: timeline numbers must not be reused. */
export async function prune({ archive, backups }: ArchivedDatabase): Promise<void> {
  const first = firstSegmentNeeded(backups);
  if (first === undefined) return;
  await archive.drop(archive.names().filter((name) => (segmentOf(name)?.number ?? first) < first));
}
