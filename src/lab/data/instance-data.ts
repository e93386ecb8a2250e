import type { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import * as z from 'zod';
import type { Secret } from '../../base/secret.ts';
import type { Engine, Query, Server } from '../engine/engine.ts';
import { databaseDown } from '../engine/server.ts';
import {
  archiveLog,
  type DataDirectory,
  firstDataDirectory,
  isUp,
  killServer,
  prune,
  reachOf,
  startServer,
  stopServer,
} from './data-directory.ts';
import { keptBackup } from './history.ts';
import { inTurn, shared } from './in-turn.ts';
import { createAppUser, dropAppUser, restoreBackup, restoreTo } from './restore.ts';

/** Facts about a base backup whose content has been read. Times are those of the data. */
export interface TakenBackup {
  /** Stored beside the backup. */
  readonly manifest: Readonly<Record<string, string | number | null>>;
  readonly startedAt: Date;
  /** From then on a restore is consistent. */
  readonly stoppedAt: Date;
}

/** The part of the log that a base backup needs, from its manifest. */
export interface BaseBackupFacts extends TakenBackup {
  readonly timeline: number;
  readonly startLsn: string;
  readonly endLsn: string;
}

/** For archived log, gzipped and encrypted. */
export interface LogStore {
  /** Mode 0700 or inside such a folder; created if missing. */
  readonly folder: string;
  /** For the next file; stored files keep theirs. */
  key(): Secret;
}

/** For one bound application. */
export interface Binding {
  readonly user: string;
  readonly password: Secret;
  readonly database: string;
  /** The application's `host`: the folder of the server's socket. */
  readonly socketFolder: string;
}

/** A database server that goes down, comes up and goes back in time. */
export interface InstanceData<Facts extends TakenBackup = BaseBackupFacts> {
  /** As the superuser; rejects with `lab.down` without a server. */
  readonly query: Query;
  /** Of the server; undefined while it is down. */
  readonly pid: number | undefined;
  readonly running: boolean;
  readonly socketFolder: string;
  readonly dataFolder: string;
  readonly archiving: boolean;
  /** A tar stream, and the facts once it has ended. */
  baseBackup(label: string): { readonly content: Readable; facts(): Promise<Facts> };
  /** Point-in-time restores can then start from this stored base backup. */
  keepBackup(backupId: string, facts: Facts): void;
  /** The backup was deleted from the store: deletes log that nothing needs any more. */
  forgetBackup(backupId: string): Promise<void>;
  /** The times that can be restored to now; undefined without archiving or a base backup. */
  range(): Promise<{ readonly start: Date; readonly end: Date } | undefined>;
  /**
   * Restores a base backup, its own or another instance's: the decrypted, unzipped tar. Rejects with
   * `lab.content` for another tar, `lab.postgres` if the server does not start; then nothing is changed.
   */
  restoreBackup(content: Readable, origin: 'own' | 'other'): Promise<void>;
  /**
   * Restores to a time, exact to the transaction; `open` gives the tar of the chosen base backup. Rejects as
   * `restoreBackup` does, with `lab.time` outside the range and `lab.archive` without its log.
   */
  restoreTo(time: Date, open: (backupId: string) => Readable): Promise<{ readonly backupId: string }>;
  stop(): Promise<void>;
  start(): Promise<void>;
  /** Without notice, as the loss of a region does. */
  kill(): Promise<void>;
  bind(): Promise<Binding>;
  /** Drops the user and cuts its connections; what it owned stays. Succeeds without such a user. */
  unbind(user: string): Promise<void>;
  /** Ends the server and all work in progress, and removes every file. Idempotent. */
  remove(): Promise<void>;
}

/**
 * A new, empty instance. Rejects with `lab.postgres`. Changes of the server run one at a time, in order. A
 * restore keeps the old data and server until the new data folder is complete, and returns to them if the new
 * server does not start. After it no earlier binding opens anything.
 */
export async function createInstanceData(
  engine: Engine,
  name: string,
  options: { readonly archive?: LogStore },
): Promise<InstanceData> {
  const place = await engine.claim(name);
  try {
    const directory = await firstDataDirectory(place, options.archive);
    return instanceData(directory);
  } catch (error) {
    await place.remove();
    throw error;
  }
}

function instanceData(directory: DataDirectory): InstanceData {
  const { place, store } = directory;
  const one = inTurn();
  const heartbeat = shared(async () => {
    const { server, archived } = directory;
    if (!isUp(server) || archived === undefined) return;
    const archivedTo = await archiveLog(server, archived.archive);
    // A restore may have come in between; the log of its data is archived on its own.
    if (directory.server === server) directory.archived = { ...(directory.archived ?? archived), archivedTo };
  });
  const reach = async () => {
    await heartbeat();
    return directory.archived && reachOf(directory.archived);
  };
  const query: Query = (sql, parameters) =>
    serverOf(directory).then((server) => server.query(sql, parameters));

  return {
    query,
    get pid() {
      return isUp(directory.server) ? directory.server.pid : undefined;
    },
    get running() {
      return isUp(directory.server);
    },
    socketFolder: place.folder,
    get dataFolder() {
      return directory.data;
    },
    archiving: store !== undefined,
    baseBackup: (label) => {
      if (!isUp(directory.server)) throw databaseDown();
      directory.labels.set(label, Date.now());
      return describedBackup(directory.server, label);
    },
    keepBackup: (backupId, facts) => {
      const { archived } = directory;
      if (archived === undefined || facts.startedAt.getTime() < archived.since) return;
      directory.archived = { ...archived, backups: [...archived.backups, keptBackup(backupId, facts)] };
    },
    forgetBackup: async (backupId) => {
      const { archived } = directory;
      if (archived?.backups.some(({ id }) => id === backupId) !== true) return;
      const backups = archived.backups.filter(({ id }) => id !== backupId);
      directory.archived = { ...archived, backups };
      const pruned = directory.archived;
      await one(() => place.track(prune(pruned)));
    },
    range: async () => {
      const interval = await reach();
      return interval && { start: new Date(interval.start), end: new Date(interval.end) };
    },
    restoreBackup: (content, origin) => {
      // It may fail while it waits for its turn; its reader gets the error.
      content.on('error', () => undefined);
      return one(() => restoreBackup(directory, content, origin));
    },
    restoreTo: (time, open) =>
      one(async () => {
        await reach();
        return await restoreTo(directory, time, open);
      }),
    stop: () => one(() => stopServer(directory)),
    start: () => one(() => startServer(directory)),
    kill: () => one(() => killServer(directory)),
    bind: () =>
      one(async () => ({ ...(await createAppUser(query)), database: DATABASE, socketFolder: place.folder })),
    unbind: (user) => one(() => dropAppUser(query, user)),
    remove: async () => {
      await place.remove();
      await directory.archived?.archive.remove();
    },
  };
}

const DATABASE = 'postgres';

async function serverOf(directory: DataDirectory): Promise<Server> {
  if (isUp(directory.server)) return directory.server;
  throw databaseDown();
}

/** `facts` rejects if the content was not read to its end. */
function describedBackup(
  server: Server,
  label: string,
): { readonly content: Readable; facts(): Promise<BaseBackupFacts> } {
  const startedAt = new Date();
  const { content, manifest } = server.baseBackup(label);
  let stoppedAt = startedAt;
  // The next millisecond: a date rounds down, and the backup holds commits before its end.
  content.once('end', () => {
    stoppedAt = new Date(Date.now() + 1);
  });
  return {
    content,
    facts: async () => {
      await finished(content, { writable: false });
      return factsOf(manifest(), startedAt, stoppedAt);
    },
  };
}

const Manifest = z.object({
  'WAL-Ranges': z.tuple([z.object({ Timeline: z.int(), 'Start-LSN': z.string(), 'End-LSN': z.string() })]),
});

/** A running server stays on one timeline, so its backup has one range. */
function factsOf(manifest: string, startedAt: Date, stoppedAt: Date): BaseBackupFacts {
  const [range] = Manifest.parse(JSON.parse(manifest))['WAL-Ranges'];
  const { Timeline: timeline, 'Start-LSN': startLsn, 'End-LSN': endLsn } = range;
  // 64 bits, more than a JavaScript number holds: cut out of the text.
  const system = /"System-Identifier": (?<id>\d+)/u.exec(manifest)?.groups?.['id'] ?? null;
  return {
    manifest: { system_identifier: system, timeline, start_lsn: startLsn, end_lsn: endLsn },
    timeline,
    startLsn,
    endLsn,
    startedAt,
    stoppedAt,
  };
}
