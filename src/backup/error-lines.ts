/** No program prints a message with a longer line. */
const LINE_LIMIT = 8 * 1024;

const NAMES_ERROR = /\b(?:error|fatal|failed|denied|refused)\b/iu;

/** A program's message: prefixed by its name or the severity. */
const MESSAGE = /^(?:[\w./-]+: |(?:error|fatal)\b)/iu;

/** Lines that programs print below a message. */
const BELOW = /^(?:\s|(?:[\w./-]+: )?(?:detail|hint|context|statement|warning)\b)/iu;

/** A statement or a record, whatever it is about. */
const DATA = /;\s*$|^-- |^\/\*|^dn:|^\{/u;

/** Whether a text names an error anywhere. */
export function namesError(text: string): boolean {
  return NAMES_ERROR.test(text);
}

/**
 * Reads a text of any length line by line and decides whether every line is a program's error message, or
 * belongs to one. Stricter than the check of a short text, since a table may be about errors. The first other
 * line ends the reading. Memory is constant.
 */
export class ErrorLines {
  #begun = Buffer.alloc(0);
  #first: string | undefined;
  #isOnly = true;

  write(bytes: Uint8Array): void {
    if (!this.#isOnly) return;
    const text = Buffer.concat([this.#begun, bytes]);
    let at = 0;
    for (let end = text.indexOf('\n'); end >= 0 && this.#isOnly; end = text.indexOf('\n', at)) {
      this.#takeLine(text.subarray(at, end));
      at = end + 1;
    }
    this.#begun = Buffer.from(text.subarray(at, at + LINE_LIMIT + 1));
    if (this.#begun.length > LINE_LIMIT) this.#isOnly = false;
  }

  /** The first line, if there are only errors. */
  end(): string | undefined {
    if (this.#isOnly) this.#takeLine(this.#begun);
    return this.#isOnly ? this.#first : undefined;
  }

  #takeLine(bytes: Buffer): void {
    if (bytes.length > LINE_LIMIT) this.#isOnly = false;
    if (!this.#isOnly) return;
    const line = bytes.toString('utf8');
    if (line.trim() === '') return;
    const isMessage = MESSAGE.test(line) && NAMES_ERROR.test(line);
    const isOne = isMessage || (this.#first !== undefined && BELOW.test(line));
    this.#isOnly = isOne && !DATA.test(line) && !line.includes('\0');
    this.#first ??= line;
  }
}
