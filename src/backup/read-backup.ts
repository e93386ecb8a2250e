import { open } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { LifeboatError } from '../base/errors.ts';
import { show } from '../base/text.ts';
import type { VerifyOptions } from './backup-file.ts';
import { decrypt } from './decrypt.ts';
import { gunzip } from './gunzip.ts';

/** Enough for a probe, so that a wrong key costs one small read. */
const FIRST_READ = 64 * 1024;

/** Large reads keep the cipher and the inflate engine busy. */
const READ = 1024 * 1024;

/** An open backup file: its size in bytes when opened, and its chunks, for one pass. */
interface OpenBackup {
  readonly size: number;
  readonly chunks: AsyncGenerator<Uint8Array, void>;
}

/**
 * Opens a file for one pass. A chunk is valid until the next one is requested: all but the first share one
 * buffer. The file is closed when `chunks` ends or is returned. Rejects with `backup.unreadable`.
 */
export async function readBackup(path: string): Promise<OpenBackup> {
  try {
    const file = await open(path, 'r');
    const { size } = await file.stat();
    return { size, chunks: readChunks(file, path) };
  } catch (cause) {
    throw unreadable(path, cause);
  }
}

async function* readChunks(
  file: Awaited<ReturnType<typeof open>>,
  path: string,
): AsyncGenerator<Uint8Array, void> {
  try {
    let buffer = Buffer.allocUnsafe(FIRST_READ);
    for (;;) {
      const { bytesRead } = await file.read(buffer, 0, buffer.length);
      if (bytesRead === 0) return;
      yield buffer.subarray(0, bytesRead);
      if (buffer.length !== READ) buffer = Buffer.allocUnsafe(READ);
    }
  } catch (cause) {
    throw unreadable(path, cause);
  } finally {
    await file.close();
  }
}

function unreadable(path: string, cause: unknown): LifeboatError {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : 'unknown error';
  return new LifeboatError('backup.unreadable', `cannot read the backup file "${show(path)}": ${code}`, {
    hints: ['check the path and the permissions of the file'],
    cause,
  });
}

/**
 * The content, decrypted and unpacked. Rejects at once with `backup.wrong-key`, `backup.not-a-backup`,
 * `backup.unreadable` or `backup.no-md5`. The stream fails with `backup.truncated`, `backup.corrupt` or
 * `backup.trailing-data`: its output is not proven before its end. It closes the file.
 */
export async function openContent(path: string, options: Pick<VerifyOptions, 'key'>): Promise<Readable> {
  const { chunks } = await readBackup(path);
  const { plain } = await decrypt(chunks, options);
  return Readable.from(gunzip(plain), { objectMode: false });
}
