const BLOCK = 64 * 1024;

/**
 * Bytes of an answer, put together as they come. They are copied into large blocks: an answer that is sent in
 * pieces of a few bytes would otherwise take a hundred times its size.
 */
export class Gathered {
  readonly #full: Buffer[] = [];
  #last = Buffer.alloc(0);
  #filled = 0;
  #size = 0;

  /** Bytes so far. */
  get size(): number {
    return this.#size;
  }

  add(chunk: Uint8Array): void {
    this.#size += chunk.length;
    for (let at = 0; at < chunk.length; ) {
      if (this.#filled === this.#last.length) this.#next();
      const part = chunk.subarray(at, at + this.#last.length - this.#filled);
      this.#last.set(part, this.#filled);
      this.#filled += part.length;
      at += part.length;
    }
  }

  /** All of them, in their order. */
  blocks(): readonly Buffer[] {
    return [...this.#full, this.#last.subarray(0, this.#filled)].filter(({ length }) => length > 0);
  }

  #next(): void {
    if (this.#filled > 0) this.#full.push(this.#last);
    this.#last = Buffer.allocUnsafe(BLOCK);
    this.#filled = 0;
  }
}
