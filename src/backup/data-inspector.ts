import { formatBytes } from '../base/format.ts';
import { ErrorLines } from './error-lines.ts';
import { errorIn, MESSAGE_LIMIT, messageIn, noDump } from './small-content.ts';

/**
 * Decides whether the bytes pushed through it may be data, or what they are instead. Memory is constant.
 * `whole`: the content of a backup; `part`: a file in it, which may be a short text.
 */
export class DataInspector {
  readonly #of: 'whole' | 'part';
  readonly #lines = new ErrorLines();
  #begins = Buffer.alloc(0);
  #bytes = 0;
  #isBlank = true;

  constructor(of: 'whole' | 'part') {
    this.#of = of;
  }

  write(bytes: Uint8Array): void {
    this.#bytes += bytes.length;
    if (this.#isBlank) this.#isBlank = isOnlyZeros(bytes);
    this.#lines.write(bytes);
    if (this.#bytes <= MESSAGE_LIMIT) this.#begins = Buffer.concat([this.#begins, bytes]);
  }

  /** `data`, or a description of what it is instead; undefined without bytes. */
  end(): 'data' | string | undefined {
    if (this.#bytes === 0) return undefined;
    if (this.#isBlank) return `only zeros, ${formatBytes(this.#bytes)}`;
    if (this.#bytes <= MESSAGE_LIMIT)
      return (this.#of === 'whole' ? messageIn(this.#begins) : errorIn(this.#begins)) ?? 'data';
    const first = this.#lines.end();
    return first === undefined ? 'data' : noDump(this.#bytes, first.trim());
  }
}

function isOnlyZeros(bytes: Uint8Array): boolean {
  if (bytes.length === 0) return true;
  // Equal to itself shifted by one byte: all bytes are the same.
  return bytes[0] === 0 && Buffer.compare(bytes.subarray(1), bytes.subarray(0, -1)) === 0;
}
