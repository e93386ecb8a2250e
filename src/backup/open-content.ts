import { Readable } from 'node:stream';
import type { VerifyOptions } from './backup-file.ts';
import { decrypt } from './decrypt.ts';
import { gunzip } from './gunzip.ts';
import { readBackup } from './read-backup.ts';

/**
 * Opens a backup file and gives its content, decrypted and unpacked. Rejects at once with `backup.wrong-key`,
 * `backup.wrong-profile`, `backup.not-a-backup`, `backup.unreadable` or `backup.no-md5`.
 *
 * The stream fails with `backup.truncated`, `backup.corrupt` or `backup.trailing-data` where the file does:
 * nothing that came out is proven before it has ended. The file is closed with the stream.
 */
export async function openContent(
  path: string,
  options: Pick<VerifyOptions, 'key' | 'profile'>,
): Promise<Readable> {
  const { chunks } = await readBackup(path);
  const { plain } = await decrypt(chunks, options);
  return Readable.from(gunzip(plain), { objectMode: false });
}
