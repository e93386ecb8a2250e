import { createHash } from 'node:crypto';
import { addAbortSignal, type Readable } from 'node:stream';
import {
  backupProblem,
  problemOf,
  type VerifyOptions,
  type VerifyProblem,
  type VerifyReport,
} from './backup-file.ts';
import { BLOCK_BYTES, SALTED } from './beginning.ts';
import { decrypt } from './decrypt.ts';
import { gunzip } from './gunzip.ts';
import { inspectContent } from './inspect-content.ts';
import { readBackup } from './read-backup.ts';

/**
 * Reads a backup file to its last byte: decrypts, unpacks, compares checksums, walks tar entries, hashes both
 * sides. Memory stays under 200 MiB at any size. Writes nothing. Problems of the file are a report, not an
 * error; a wrong key shows after one read of 64 KiB. `intact` and `readable` do not mean authentic: the
 * format has no MAC. Rejects with `backup.unreadable`, `backup.no-md5`, or with the reason of the signal.
 */
export async function verifyFile(path: string, options: VerifyOptions): Promise<VerifyReport> {
  const { size, chunks } = await readBackup(path);
  return await verifyChunks(chunks, options, size);
}

/** As `verifyFile`, on arrival. Destroys the stream at the end; may reject with its error. No total. */
export async function verifyStream(stream: Readable, options: VerifyOptions): Promise<VerifyReport> {
  // Without this a stalled stream would not notice the signal.
  if (options.signal !== undefined) addAbortSignal(options.signal, stream);
  return await verifyChunks(stream, options, undefined);
}

/** Verifies the chunks of a backup; `total` is only for the progress. See `verifyFile`. */
async function verifyChunks(
  chunks: AsyncIterable<Uint8Array>,
  options: VerifyOptions,
  total: number | undefined,
): Promise<VerifyReport> {
  const meter = new CipherMeter(chunks, options, total);
  try {
    return await readAll(meter, options);
  } catch (error) {
    options.signal?.throwIfAborted();
    const problem = problemOf(error);
    if (problem === undefined || !(error instanceof Error)) throw error;
    return await report(problem, error.message, meter);
  } finally {
    await meter.close();
  }
}

async function readAll(meter: CipherMeter, options: VerifyOptions): Promise<VerifyReport> {
  const { profile, plain } = await decrypt(meter, options);
  const hash = createHash('sha256');
  let contentBytes = 0;
  const measured = async function* () {
    for await (const chunk of gunzip(plain)) {
      hash.update(chunk);
      contentBytes += chunk.length;
      yield chunk;
    }
  };
  const { content, entries, empty } = await inspectContent(measured());
  if (empty !== undefined) throw backupProblem('empty', `the key opens it, and it holds no data: ${empty}`);
  return {
    ok: true,
    verdict: content === 'tar' ? 'readable' : 'intact',
    profile,
    content,
    entries,
    cipherBytes: meter.bytes,
    cipherSha256: meter.digest(),
    contentBytes,
    contentSha256: hash.digest('hex'),
  };
}

/** Decided by the head alone: reading on would show nothing more. */
const OF_THE_HEAD: ReadonlySet<VerifyProblem> = new Set(['wrong-key', 'not-a-backup']);

async function report(problem: VerifyProblem, message: string, meter: CipherMeter): Promise<VerifyReport> {
  if (OF_THE_HEAD.has(problem) && meter.bytes > 0)
    return { ok: false, problem, shortMessage: message, cipherBytes: meter.bytes, cipherSha256: undefined };
  await meter.drain();
  const shortMessage = explain(problem, message, meter);
  return { ok: false, problem, shortMessage, cipherBytes: meter.bytes, cipherSha256: meter.digest() };
}

/** Adds what only the whole file shows. */
function explain(problem: VerifyProblem, message: string, meter: CipherMeter): string {
  if (problem === 'trailing-data' && meter.secondHeader !== undefined) {
    return `a second encrypted file begins at byte ${meter.secondHeader}`;
  }
  if (problem === 'truncated' && !/^the (?:file|\w+ inside)\b/u.test(message)) {
    return `the file ends at byte ${meter.bytes}: ${message}`;
  }
  return message;
}

/** The header as two words, to check every block cheaply. */
const SALT = SALTED.readInt32BE(0);
const ED__ = SALTED.readInt32BE(4);

/** Measures passing bytes. A reader may stop early without a close: `drain` measures the rest. */
class CipherMeter implements AsyncIterable<Uint8Array> {
  readonly #source: AsyncIterator<Uint8Array>;
  readonly #options: Pick<VerifyOptions, 'signal' | 'onProgress'>;
  readonly #total: number | undefined;
  readonly #hash = createHash('sha256');
  #bytes = 0;
  #secondHeader: number | undefined;

  constructor(
    source: AsyncIterable<Uint8Array>,
    options: Pick<VerifyOptions, 'signal' | 'onProgress'>,
    total: number | undefined,
  ) {
    this.#source = source[Symbol.asyncIterator]();
    this.#options = options;
    this.#total = total;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Where a second `Salted__` begins: two joined files. Only for a message: missed if chunks split it. */
  get secondHeader(): number | undefined {
    return this.#secondHeader;
  }

  [Symbol.asyncIterator](): AsyncIterator<Uint8Array> {
    return { next: () => this.#next() };
  }

  async drain(): Promise<void> {
    while ((await this.#next()).done !== true);
  }

  /** SHA-256 of all bytes that passed, lower-case hex. Ends the measuring. */
  digest(): string {
    return this.#hash.digest('hex');
  }

  async close(): Promise<void> {
    await this.#source.return?.();
  }

  async #next(): Promise<IteratorResult<Uint8Array>> {
    this.#options.signal?.throwIfAborted();
    const next = await this.#source.next();
    if (next.done === true) return next;
    const chunk = next.value;
    this.#hash.update(chunk);
    this.#lookForHeader(chunk);
    this.#bytes += chunk.length;
    this.#options.onProgress?.(this.#bytes, this.#total);
    return next;
  }

  #lookForHeader(chunk: Uint8Array): void {
    if (this.#secondHeader !== undefined) return;
    const view = new DataView(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    const first = this.#bytes === 0 ? BLOCK_BYTES : -this.#bytes & (BLOCK_BYTES - 1);
    for (let at = first; at + 8 <= chunk.length; at += BLOCK_BYTES) {
      if (view.getInt32(at) === SALT && view.getInt32(at + 4) === ED__) {
        this.#secondHeader = this.#bytes + at;
        return;
      }
    }
  }
}
