import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, open, readdir, rename, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { createGzip } from 'node:zlib';
import { encryptor } from '../../backup/encryptor.ts';
import { LifeboatError } from '../../base/errors.ts';
import type { Secret } from '../../base/secret.ts';
import type { Place, Server, Settings } from '../engine/engine.ts';
import { openBackup } from '../manager/store.ts';
import { isHistory, segmentOf } from './history.ts';
import { shared } from './in-turn.ts';
import type { LogStore } from './instance-data.ts';

/** The log of one database since its creation, or its arrival from another instance. */
export interface LogArchive {
  /** For a server to archive its log into the spool folder beside its data folder. */
  readonly settings: Settings;
  /** Stored segments and timeline histories. */
  names(): string[];
  /** Stores what the server handed over and deletes the plain files. Rejects if that fails. */
  drain(): Promise<void>;
  /** Resolves when a file is stored. Rejects with `lab.archive` if it does not arrive or `server` ends. */
  arrival(name: string, server: Server): Promise<void>;
  /** Stores what a stopped server could not hand over; returns the names. */
  salvage(data: string, timeline: number): Promise<string[]>;
  /** Decrypts files into a folder, readable for the database. */
  lay(names: readonly string[], folder: string): Promise<void>;
  drop(names: readonly string[]): Promise<void>;
  remove(): Promise<void>;
}

/** The maximum delay of storing, unless something waits for it. */
const DRAIN_EVERY_MS = 500;
const ARRIVES_WITHIN_MS = 30_000;
const LAID_AT_ONCE = 4;
/** A quiet database archives pending log by then. */
const ARCHIVE_TIMEOUT = '30s';

/**
 * An empty, numbered archive. The server hands every finished file to a spool folder. It is stored gzipped
 * and encrypted; the plain file is deleted only once that is durable.
 */
export async function openLogArchive(place: Place, store: LogStore, number: number): Promise<LogArchive> {
  const folder = join(store.folder, String(number));
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const spool = await place.makeFolder(`spool-${number}`);
  const keys = new Map<string, Secret>();
  const removal = new AbortController();
  const signal = AbortSignal.any([place.signal, removal.signal]);
  const pathOf = (name: string) => join(folder, `${name}.gz.enc`);

  const storeFile = async (path: string, name: string) => {
    const key = store.key();
    await encryptFile(path, pathOf(name), key, signal);
    keys.set(name, key);
  };
  const drain = shared(() =>
    place.track(
      (async () => {
        for (const name of (await readdir(spool)).sort()) {
          if (name.endsWith(PARTIAL)) continue;
          if (isLog(name)) await storeFile(join(spool, name), name);
          await rm(join(spool, name), { force: true });
        }
      })(),
    ),
  );
  const layFile = async (name: string, target: string) => {
    const key = keys.get(name);
    if (key === undefined) throw archiveError(`${name} is not in the archive`);
    const content = openBackup(createReadStream(pathOf(name)), key, signal);
    await pipeline(content, createWriteStream(target, { flags: 'wx', mode: 0o644 }), { signal });
  };
  void drainRegularly(drain, signal);
  const drop = async (names: readonly string[]) => {
    for (const name of names) keys.delete(name);
    await Promise.all(names.map((name) => rm(pathOf(name), { force: true })));
  };
  return {
    settings: archiveSettings(basename(spool)),
    names: () => [...keys.keys()],
    drain,
    arrival: async (name, server) => {
      for (const end = Date.now() + ARRIVES_WITHIN_MS; ; await pause(5, undefined, { signal })) {
        await drain();
        if (keys.has(name)) return;
        if (Date.now() > end || !server.running) throw archiveError(`the server does not archive ${name}`);
      }
    },
    salvage: async (data, timeline) => {
      await drain();
      const names = await unarchived(data, timeline);
      for (const name of names) await storeFile(join(data, 'pg_wal', name), name);
      return names;
    },
    lay: async (names, target) => {
      const rest = names.values();
      const work = async () => {
        for (const name of rest) await layFile(name, join(target, name));
      };
      await Promise.all(Array.from({ length: LAID_AT_ONCE }, work));
    },
    drop,
    remove: async () => {
      removal.abort();
      await drain().catch(() => undefined);
      await Promise.all([spool, folder].map((path) => rm(path, { recursive: true, force: true })));
    },
  };
}

export function archiveError(what: string): LifeboatError {
  return new LifeboatError('lab.archive', `the log archive cannot be used: ${what}`, {
    hints: ['check free space: df -h'],
  });
}

const PARTIAL = '.part';

/* A file gets its name only when complete. Absolute paths: PATH may be anything. Run in the data folder. */
function archiveSettings(spool: string): Settings {
  const target = `../${spool}/%f`;
  return {
    archive_mode: 'on',
    archive_command: `/bin/cp %p ${target}${PARTIAL} && /bin/mv ${target}${PARTIAL} ${target}`,
    archive_timeout: ARCHIVE_TIMEOUT,
  };
}

/** Others are notes about backups, and copies of half-full segments. */
function isLog(name: string): boolean {
  return segmentOf(name) !== undefined || isHistory(name);
}

async function drainRegularly(drain: () => Promise<void>, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await pause(DRAIN_EVERY_MS, undefined, { signal, ref: false }).catch(() => undefined);
    // A caller that waits for a file gets the error; this loop tries again.
    if (!signal.aborted) await drain().catch(() => undefined);
  }
}

/** A file that was handed over has a mark `.done` (PostgreSQL documentation, "Continuous Archiving"). */
async function unarchived(data: string, timeline: number): Promise<string[]> {
  const [names, marks] = await Promise.all([
    readdir(join(data, 'pg_wal')),
    readdir(join(data, 'pg_wal/archive_status')),
  ]);
  const done = new Set(marks);
  return names
    .filter((name) => isHistory(name) || segmentOf(name)?.timeline === timeline)
    .filter((name) => !done.has(`${name}.done`))
    .sort();
}

/** The file gets its name once it is complete and on disk. */
async function encryptFile(source: string, target: string, key: Secret, signal: AbortSignal): Promise<void> {
  const partial = `${target}${PARTIAL}`;
  await pipeline(
    createReadStream(source),
    createGzip({ level: 1 }),
    encryptor({ key, profile: 'md5' }),
    createWriteStream(partial, { mode: 0o600, flush: true }),
    { signal },
  );
  await rename(partial, target);
  await using folder = await open(join(target, '..'), 'r');
  await folder.sync();
}
