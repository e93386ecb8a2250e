// By hand, because it gives verdicts: zlib's gunzip drops what follows the last member without a word.
import { crc32 } from 'node:zlib';
import { ByteReader } from './byte-reader.ts';
import type { CipherEnd } from './decrypt.ts';
import { looksLikeGzip, takeGzipHeader } from './gzip-header.ts';
import { inflateMember } from './inflate-member.ts';
import { BLOCK_BYTES } from './probe.ts';
import { backupProblem } from './problem.ts';

/**
 * Unpacks decrypted gzip and checks everything that can be checked: CRC-32 and length of every member (RFC
 * 1952), and that nothing is missing or left over behind the last one. Members that follow each other are
 * joined, as `gzip -dc` does.
 *
 * Rejects with `backup.truncated`, `backup.corrupt` or `backup.trailing-data`. What came out before a
 * rejection is not proven.
 */
export async function* gunzip(plain: AsyncIterator<Uint8Array, CipherEnd>): AsyncGenerator<Uint8Array, void> {
  const reader = new ByteReader(plain);
  let contentBytes = 0;
  try {
    do {
      await takeGzipHeader(reader);
      let crc = 0;
      let length = 0;
      for await (const chunk of inflateMember(reader, contentBytes)) {
        // The engine inflates raw: its checksum would cost time on the busy thread, here it costs none.
        crc = crc32(chunk, crc);
        length += chunk.length;
        yield chunk;
      }
      contentBytes += length;
      await takeTrailer(reader, crc, length);
    } while (looksLikeGzip(await reader.peek(4)));
    await checkEnd(reader);
  } finally {
    await reader.close();
  }
}

async function takeTrailer(reader: ByteReader, crc: number, length: number): Promise<void> {
  const bytes = await reader.take(8);
  if (bytes === undefined) throw backupProblem('truncated', 'the data ends inside a gzip trailer');
  const trailer = Buffer.from(bytes);
  if (trailer.readUInt32LE(0) !== crc) {
    throw backupProblem('corrupt', `the gzip checksum does not match, after ${length} bytes of content`);
  }
  if (trailer.readUInt32LE(4) !== length % 2 ** 32) {
    throw backupProblem('corrupt', `the gzip length does not match, after ${length} bytes of content`);
  }
}

/** The gzip data is whole. Now the padding must follow, and nothing else. */
async function checkEnd(reader: ByteReader<CipherEnd>): Promise<void> {
  const offset = reader.offset;
  // A block and one byte more tell damaged padding from extra data.
  const { length } = await reader.peek(BLOCK_BYTES + 1);
  const padding = reader.last?.padding ?? 0;
  const strayBytes = reader.last?.strayBytes ?? 0;
  if (length === 0 && padding === 0) {
    throw backupProblem('truncated', 'the gzip data is whole, but the final padding block is missing');
  }
  if (length === 0 && strayBytes > 0) {
    throw backupProblem('trailing-data', `bytes follow the final block: ${strayBytes}`);
  }
  if (length === 0) return;
  if (padding === 0 && length === BLOCK_BYTES - (offset % BLOCK_BYTES)) {
    throw backupProblem('corrupt', `the padding after byte ${offset} of the decrypted data is damaged`);
  }
  throw backupProblem('trailing-data', `something follows the gzip data at its byte ${offset}`);
}
