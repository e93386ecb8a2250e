import { createHash } from 'node:crypto';
import type { VerifyOptions } from './backup-file.ts';
import { BLOCK_BYTES, SALTED } from './beginning.ts';

/** The header as two words, to check every block cheaply. */
const SALT = SALTED.readInt32BE(0);
const ED__ = SALTED.readInt32BE(4);

/**
 * Passes on the bytes of a backup and measures them: count, SHA-256, progress, abort. A reader may stop early
 * without closing the source; `drain` then measures the rest.
 */
export class CipherMeter implements AsyncIterable<Uint8Array> {
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

  /**
   * The position of a second `Salted__` on a block boundary: two encrypted files were joined. It can be
   * missed if chunks split it, so it only improves a message.
   */
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
