// By hand around zlib's inflate: a verdict needs to know at which byte a member ends, and what follows it.
import { once } from 'node:events';
import { createInflateRaw, type InflateRaw } from 'node:zlib';
import type { ByteReader } from './byte-reader.ts';
import { backupProblem } from './problem.ts';

/*
 * Large chunks are the whole tuning: the engine works in a thread of the pool, and each hand-over costs it a
 * pause. With room for several chunks on both sides it works on while the caller hashes the last one.
 */
const OUTPUT_CHUNK = 512 * 1024;
const ENGINE = {
  chunkSize: OUTPUT_CHUNK,
  readableHighWaterMark: 4 * OUTPUT_CHUNK,
  writableHighWaterMark: 2 * 1024 * 1024,
};

/**
 * Inflates one raw deflate stream (RFC 1951) and leaves the reader right behind its last byte. `before` is
 * the number of content bytes that came earlier, for the message. Rejects with `backup.corrupt`,
 * `backup.truncated` or what the reader rejected with.
 */
export async function* inflateMember(reader: ByteReader, before: number): AsyncGenerator<Uint8Array, void> {
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

/** Writes the reader's bytes into the engine and gives back what the engine had no use for. */
class Feeder {
  /** What the reader rejected with. */
  failure: unknown;
  readonly #engine: InflateRaw;
  readonly #reader: ByteReader;
  readonly #stopped = new AbortController();
  /** Chunks that the engine may not have read to their end, each with the count of bytes fed up to there. */
  #fed: { readonly chunk: Uint8Array; readonly end: number }[] = [];
  #fedBytes = 0;

  constructor(engine: InflateRaw, reader: ByteReader) {
    this.#engine = engine;
    this.#reader = reader;
  }

  /** Never rejects: a failure of the reader is kept, and the engine is destroyed. */
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

  /** Ends the feeding; the reader then stands right behind the deflate stream. */
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
