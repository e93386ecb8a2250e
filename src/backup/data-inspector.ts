import { formatBytes } from '../base/format.ts';
import { ErrorLines } from './error-lines.ts';
import { errorIn, MESSAGE_LIMIT, messageIn, noDump } from './small-content.ts';

/**
 * Says of bytes that are pushed through it whether they may be data, or what they are instead. Memory is
 * constant. `whole`: they are the content of a backup; `part`: a file in it, which may be a short text.
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

  /** `data`, or what it is instead in words; undefined where there are no bytes. */
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
  // Equal to itself moved by one byte: all bytes are the first one.
  return bytes[0] === 0 && Buffer.compare(bytes.subarray(1), bytes.subarray(0, -1)) === 0;
}
