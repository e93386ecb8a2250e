import { randomBytes } from 'node:crypto';
import { constants, existsSync } from 'node:fs';
import { open, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Launcher } from './launcher.ts';
import type { Binaries } from './locate-postgres.ts';

/** Makes the data folder of an empty database. Rejects with `lab.postgres`. */
export type MakeEmpty = (data: string, signal: AbortSignal) => Promise<void>;

interface Template {
  /** An empty database's data folder; no server ever runs on it. */
  readonly template: string;
  /** Otherwise it is made when first needed. */
  readonly isMade: boolean;
  readonly signal: AbortSignal;
}

/**
 * Copies one empty database: `initdb` takes most of a second, a copy a twentieth of that. Each copy gets its
 * own identifier, by which PostgreSQL and people tell the logs of databases apart.
 */
export function emptyDatabases(
  launcher: Launcher,
  binaries: Binaries,
  { template, isMade, signal }: Template,
): MakeEmpty {
  const cp = ['/bin/cp', '/usr/bin/cp'].find((path) => existsSync(path));
  if (cp === undefined) return (data, stop) => initialise(launcher, binaries, data, stop);
  let first = isMade ? Promise.resolve() : undefined;
  return async (data, stop) => {
    first ??= initialise(launcher, binaries, template, signal);
    await first;
    await launcher.run(cp, ['-R', '-p', template, data], stop);
    await identify(data);
  };
}

/** By `initdb`, in a new folder. */
export async function initialise(
  launcher: Launcher,
  { initdb }: Binaries,
  data: string,
  signal?: AbortSignal,
): Promise<void> {
  await launcher.run(initdb, ['-D', data, ...INITDB], signal);
}

/** Of a file of the log: 1 MB instead of 16, since a backup carries at least one. */
export const SEGMENT_BYTES = 1024 * 1024;

/** For every database of the lab. */
export const INITDB: readonly string[] = [
  '--username=postgres',
  // For a person who starts a downloaded copy by hand; the lab's servers read files outside the data folder.
  '--auth-local=peer',
  '--auth-host=scram-sha-256',
  '--encoding=UTF8',
  '--locale=C',
  `--wal-segsize=${SEGMENT_BYTES / 1024 / 1024}`,
  '--no-sync',
  '--no-instructions',
];

/**
 * Gives a database that was never started another identifier, in its control file and its log; PostgreSQL
 * compares the two at start. Changes nothing if the control file's checksum is not found.
 */
async function identify(data: string): Promise<void> {
  const path = join(data, 'global/pg_control');
  const control = await readFile(path);
  const before = Buffer.from(control.subarray(0, IDENTIFIER_BYTES));
  const sumAt = sumPlaceIn(control);
  if (sumAt === undefined) return;
  const identifier = newIdentifier();
  for (const name of await readdir(join(data, 'pg_wal'))) {
    if (!/^[0-9A-F]{24}$/u.test(name)) continue;
    const file = await open(join(data, 'pg_wal', name), IN_PLACE);
    try {
      const { buffer } = await file.read(Buffer.alloc(IDENTIFIER_BYTES), { position: IDENTIFIER_IN_LOG });
      if (buffer.equals(before)) await file.write(identifier, 0, IDENTIFIER_BYTES, IDENTIFIER_IN_LOG);
    } finally {
      await file.close();
    }
  }
  identifier.copy(control);
  control.writeUInt32LE(crc32c(control.subarray(0, sumAt)), sumAt);
  await writeFile(path, control, { flag: IN_PLACE });
}

/** Through no link: the folder belongs to PostgreSQL's user, whom root does not trust. */
const IN_PLACE = constants.O_RDWR | constants.O_NOFOLLOW;

/** At the start of a control file. */
const IDENTIFIER_BYTES = 8;

/** After the header of every page of a log file (PostgreSQL, `xlog_internal.h`). */
const IDENTIFIER_IN_LOG = 24;

/** As PostgreSQL does: seconds since 1970, then bits that differ within one second. */
function newIdentifier(): Buffer {
  const identifier = randomBytes(IDENTIFIER_BYTES);
  identifier.writeUInt32LE(Math.floor(Date.now() / 1000), IDENTIFIER_BYTES / 2);
  return identifier;
}

/** A CRC of everything before it, in the first 512 bytes of pg_control, whose length varies by version. */
function sumPlaceIn(control: Buffer): number | undefined {
  for (let at = 64; at < 512; at += 4)
    if (control.readUInt32LE(at) === crc32c(control.subarray(0, at))) return at;
  return undefined;
}

/** CRC-32C (RFC 3720, Castagnoli), as PostgreSQL; `node:zlib` has another CRC-32. */
function crc32c(bytes: Buffer): number {
  let sum = ~0;
  for (const byte of bytes) {
    sum ^= byte;
    for (let bit = 0; bit < 8; bit += 1) sum = (sum >>> 1) ^ (sum & 1 ? 0x82f63b78 : 0);
  }
  return ~sum >>> 0;
}
