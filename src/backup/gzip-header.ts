// By hand, because zlib reads no header apart from its data, and keys are tried against a header alone.
import type { ByteReader } from './byte-reader.ts';
import { backupProblem } from './problem.ts';

const FHCRC = 0x02;
const FEXTRA = 0x04;
const FNAME = 0x08;
const FCOMMENT = 0x10;
const RESERVED = 0xe0;

/**
 * Whether bytes begin like a gzip member (RFC 1952 §2.3): magic 1f 8b, method 8, no reserved flag. Of fewer
 * than four bytes the ones that are there count; none at all is no gzip.
 */
export function looksLikeGzip(bytes: Uint8Array): boolean {
  const [id1, id2 = 0x8b, method = 8, flags = 0] = bytes;
  return id1 === 0x1f && id2 === 0x8b && method === 8 && (flags & RESERVED) === 0;
}

/**
 * Takes the header of a gzip member off the reader. Rejects with `backup.corrupt` or, at an early end,
 * `backup.truncated`.
 */
export async function takeGzipHeader(reader: ByteReader): Promise<void> {
  const start = reader.offset;
  const fixed = await need(reader, 10);
  if (!looksLikeGzip(fixed)) {
    throw backupProblem('corrupt', `there is no gzip header at byte ${start} of the decrypted data`);
  }
  const flags = fixed[3] ?? 0;
  if ((flags & FEXTRA) !== 0) {
    const [low = 0, high = 0] = await need(reader, 2);
    await need(reader, low + high * 256);
  }
  if ((flags & FNAME) !== 0) await skipText(reader);
  if ((flags & FCOMMENT) !== 0) await skipText(reader);
  if ((flags & FHCRC) !== 0) await need(reader, 2);
}

async function need(reader: ByteReader, length: number): Promise<Uint8Array> {
  const bytes = await reader.take(length);
  if (bytes === undefined) throw backupProblem('truncated', 'the data ends inside a gzip header');
  return bytes;
}

async function skipText(reader: ByteReader): Promise<void> {
  for (let chunk = await reader.read(); chunk !== undefined; chunk = await reader.read()) {
    const end = chunk.indexOf(0);
    if (end < 0) continue;
    reader.unread(chunk.subarray(end + 1));
    return;
  }
  throw backupProblem('truncated', 'the data ends inside a gzip header');
}
