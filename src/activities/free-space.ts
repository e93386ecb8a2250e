import { statfs } from 'node:fs/promises';
import { LifeboatError } from '../base/errors.ts';
import { formatBytes } from '../base/format.ts';
import { show } from '../base/text.ts';

/** Bytes that a download leaves free: on a full disk the journal cannot record what a run did. */
export const KEPT_FREE = 64 * 1024 * 1024;

/** Bytes for this user; undefined if the file system does not say. Rejects if there is no folder. */
export async function freeSpace(folder: string): Promise<number | undefined> {
  const { bavail, blocks, bsize } = await statfs(folder);
  return blocks === 0 ? undefined : bavail * bsize;
}

/** Rejects with `disk.full` if `bytes` more of a backup would use the reserved space. */
export async function requireRoom(folder: string, bytes: number): Promise<void> {
  const free = await freeSpace(folder);
  if (free === undefined || free >= bytes + KEPT_FREE) return;
  const needs =
    bytes > 0 ? `the backup needs ${formatBytes(bytes)}, and` : 'the download has filled the disk:';
  throw new LifeboatError('disk.full', `${needs} ${show(folder)} has ${formatBytes(free)} free`, {
    hints: [
      `${formatBytes(KEPT_FREE)} stay free beside it, so that the journal can go on`,
      'make room, or download to a larger disk: --out FILE, or LIFEBOAT_HOME for the runs',
    ],
    evidence: { needed: bytes, free, keptFree: KEPT_FREE },
  });
}
