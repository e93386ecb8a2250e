import { chownSync, readdirSync } from 'node:fs';
import { access, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { LifeboatError } from '../../base/errors.ts';
import { show } from '../../base/text.ts';
import type { EngineUser } from './launcher.ts';
import { unpackTar } from './unpack-tar.ts';

/**
 * Unpacks a base backup into a new folder: 0700 and 0600, owned by the database's user. A base backup holds
 * files and folders only, so anything else (links, devices, paths that leave the folder, a cut tar) rejects
 * with `lab.content`.
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
    // What was set by ALTER SYSTEM belongs to the source, its archive among it, and would win over our own
    // configuration.
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
