/**
 * Reads chunks byte-wise: look ahead, take, give back. `Last`: the iterator's return value. Copies only for a
 * look ahead over two chunks. After the source failed, each read rejects with the same error.
 */
export class ByteReader<Last = unknown> {
  readonly #source: AsyncIterator<Uint8Array, Last>;
  #waiting: Uint8Array[] = [];
  #offset = 0;
  #last: { readonly value: Last } | undefined;
  #failure: { readonly error: unknown } | undefined;

  constructor(source: AsyncIterator<Uint8Array, Last>) {
    this.#source = source;
  }

  /** How many bytes have been taken. */
  get offset(): number {
    return this.#offset;
  }

  /** The source's return value; undefined before its end was reached. */
  get last(): Last | undefined {
    return this.#last?.value;
  }

  /** The next chunk, never empty; undefined at the end. */
  async read(): Promise<Uint8Array | undefined> {
    const chunk = this.#waiting.shift() ?? (await this.#pull());
    if (chunk !== undefined) this.#offset += chunk.length;
    return chunk;
  }

  unread(chunk: Uint8Array): void {
    if (chunk.length === 0) return;
    this.#waiting.unshift(chunk);
    this.#offset -= chunk.length;
  }

  /** Up to `length` bytes from here, without taking them; fewer only at the end. */
  async peek(length: number): Promise<Uint8Array> {
    let held = this.#waiting.reduce((sum, chunk) => sum + chunk.length, 0);
    while (held < length) {
      const chunk = await this.#pull();
      if (chunk === undefined) break;
      this.#waiting.push(chunk);
      held += chunk.length;
    }
    const first = this.#waiting[0];
    if (first !== undefined && first.length < Math.min(length, held)) {
      this.#waiting = [Buffer.concat(this.#waiting)];
    }
    return (this.#waiting[0] ?? new Uint8Array()).subarray(0, length);
  }

  /** Takes exactly `length` bytes, or undefined when fewer are left. */
  async take(length: number): Promise<Uint8Array | undefined> {
    const bytes = await this.peek(length);
    if (bytes.length < length) return undefined;
    const chunk = (await this.read()) ?? bytes;
    this.unread(chunk.subarray(length));
    return bytes;
  }

  async close(): Promise<void> {
    await this.#source.return?.();
  }

  async #pull(): Promise<Uint8Array | undefined> {
    while (this.#last === undefined) {
      const next = await this.#next();
      if (next.done === true) this.#last = { value: next.value };
      else if (next.value.length > 0) return next.value;
    }
    return undefined;
  }

  async #next(): Promise<IteratorResult<Uint8Array, Last>> {
    if (this.#failure !== undefined) throw this.#failure.error;
    try {
      return await this.#source.next();
    } catch (error) {
      this.#failure = { error };
      throw error;
    }
  }
}
