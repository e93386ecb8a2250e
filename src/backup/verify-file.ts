import type { VerifyOptions, VerifyReport } from './backup-file.ts';
import { readBackup } from './read-backup.ts';
import { verifyChunks } from './verify-chunks.ts';

/**
 * Reads a backup file to its last byte and says what it is worth: decrypted, unpacked, checksums compared,
 * tar entries walked, both sides hashed. Memory stays under 200 MiB at any size. Nothing is written.
 *
 * Problems of the file are a report, not an error; a wrong key shows after one read of 64 KiB. `intact` and
 * `readable` do not mean authentic: the format carries no MAC. Rejects with `backup.unreadable`,
 * `backup.no-md5`, or with the reason of the signal.
 */
export async function verifyFile(path: string, options: VerifyOptions): Promise<VerifyReport> {
  const { size, chunks } = await readBackup(path);
  return await verifyChunks(chunks, options, size);
}
