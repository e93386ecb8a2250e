// By hand around zlib's inflate, for verdicts: zlib's gunzip drops what follows the last member, cannot read
// a header alone (for key probes), and does not say at which byte a member ends.

import { once } from 'node:events';
import { crc32, createInflateRaw, type InflateRaw } from 'node:zlib';
import { backupProblem } from './backup-file.ts';
import { BLOCK_BYTES } from './beginning.ts';
import { ByteReader } from './byte-reader.ts';
import type { CipherEnd } from './decrypt.ts';

/**
 * Unpacks gzip and checks CRC-32 and length of every member (RFC 1952), and that nothing is missing or left
 * over. Joins members, as `gzip -dc` does. Rejects with `backup.truncated`, `backup.corrupt` or
 * `backup.trailing-data`; output before a rejection is not proven.
 */
export async function* gunzip(plain: AsyncIterator<Uint8Array, CipherEnd>): AsyncGenerator<Uint8Array, void> {
  const reader = new ByteReader(plain);
  try {
    yield* unpackGzip(reader);
    await checkEnd(reader);
  } finally {
    await reader.close();
  }
}

/** Stops right after the last member. Rejects with `backup.truncated`, `.corrupt` or the reader's error. */
export async function* unpackGzip(reader: ByteReader): AsyncGenerator<Uint8Array, void> {
  let contentBytes = 0;
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

/** The gzip data is whole. Now only the padding may follow. */
async function checkEnd(reader: ByteReader<CipherEnd>): Promise<void> {
  const offset = reader.offset;
  // One byte more than a block distinguishes damaged padding from extra data.
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

const FHCRC = 0x02;
const FEXTRA = 0x04;
const FNAME = 0x08;
const FCOMMENT = 0x10;
const RESERVED = 0xe0;

/** RFC 1952 §2.3: 1f 8b, method 8, no reserved flag. Of fewer than 4 bytes those count; 0 are not gzip. */
export function looksLikeGzip(bytes: Uint8Array): boolean {
  const [id1, id2 = 0x8b, method = 8, flags = 0] = bytes;
  return id1 === 0x1f && id2 === 0x8b && method === 8 && (flags & RESERVED) === 0;
}

/** Takes a gzip header from the reader. Rejects with `backup.corrupt` or `backup.truncated`. */
async function takeGzipHeader(reader: ByteReader): Promise<void> {
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

/* Large chunks and room for several on both sides: each hand-over pauses the engine's pool thread. */
const OUTPUT_CHUNK = 512 * 1024;
const ENGINE = {
  chunkSize: OUTPUT_CHUNK,
  readableHighWaterMark: 4 * OUTPUT_CHUNK,
  writableHighWaterMark: 2 * 1024 * 1024,
};

/**
 * Inflates a raw deflate stream (RFC 1951) and leaves the reader right after it. `before`: earlier content
 * bytes, for the message. Rejects with `backup.corrupt`, `backup.truncated` or the reader's error.
 */
async function* inflateMember(reader: ByteReader, before: number): AsyncGenerator<Uint8Array, void> {
  const engine = createInflateRaw(ENGINE);
  const feeder = new Feeder(engine, reader);
  const feeding = feeder.run();
  let contentBytes = before;
  try {
    for await (const chunk of engine as AsyncIterable<Uint8Array>) {
      contentBytes += chunk.length;
      yield chunk;
    }
  } catch (error) {
    throw feeder.failure ?? describe(error, contentBytes);
  } finally {
    engine.destroy();
    await feeder.stop(feeding);
  }
}

/** Writes the reader's bytes into the engine and gives back what the engine did not use. */
class Feeder {
  /** The reader's error. */
  failure: unknown;
  readonly #engine: InflateRaw;
  readonly #reader: ByteReader;
  readonly #stopped = new AbortController();
  /** Chunks that the engine may not have read completely, each with the count of bytes fed up to its end. */
  #fed: { readonly chunk: Uint8Array; readonly end: number }[] = [];
  #fedBytes = 0;

  constructor(engine: InflateRaw, reader: ByteReader) {
    this.#engine = engine;
    this.#reader = reader;
  }

  /** Never rejects: a failure of the reader is stored, and the engine is destroyed. */
  async run(): Promise<void> {
    const { signal } = this.#stopped;
    try {
      while (!signal.aborted) {
        const chunk = await this.#reader.read();
        if (chunk === undefined) {
          this.#engine.end();
          return;
        }
        this.#keep(chunk);
        if (!signal.aborted && !this.#engine.write(chunk)) await once(this.#engine, 'drain', { signal });
      }
    } catch (error) {
      if (signal.aborted) return;
      this.failure = error;
      this.#engine.destroy(new Error('the source failed'));
    }
  }

  /** Ends the feeding; the reader is then right after the deflate stream. */
  async stop(feeding: Promise<void>): Promise<void> {
    this.#stopped.abort();
    await feeding;
    for (const { chunk, end } of this.#fed.reverse()) {
      const unused = Math.min(end - this.#engine.bytesWritten, chunk.length);
      if (unused > 0) this.#reader.unread(chunk.subarray(chunk.length - unused));
    }
  }

  #keep(chunk: Uint8Array): void {
    this.#fedBytes += chunk.length;
    this.#fed.push({ chunk, end: this.#fedBytes });
    while ((this.#fed[0]?.end ?? Infinity) <= this.#engine.bytesWritten) this.#fed.shift();
  }
}

function describe(error: unknown, contentBytes: number): unknown {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'Z_BUF_ERROR') {
    return backupProblem(
      'truncated',
      `the gzip data ends early, after ${contentBytes} bytes of content`,
      error,
    );
  }
  if (code === 'Z_DATA_ERROR') {
    return backupProblem(
      'corrupt',
      `the gzip data is damaged, after ${contentBytes} bytes of content`,
      error,
    );
  }
  return error;
}
