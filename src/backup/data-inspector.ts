import { formatBytes } from '../base/format.ts';
import { show, untrust } from '../base/text.ts';

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

/** A text larger than this is not the message of a failed dump. */
const MESSAGE_LIMIT = 64 * 1024;

/**
 * Whether content is a short text without any statement, which a dump would have: the message of a failed
 * dump, or a proxy's page, packed and encrypted as if it were data. Returns a description with its beginning;
 * undefined for anything that may be data. `content` is all of it, at most `MESSAGE_LIMIT` bytes.
 */
function messageIn(content: Buffer): string | undefined {
  const text = textOf(content);
  if (text === undefined) return undefined;
  if (text.split('\n').every((line) => /^\s*(?:--|$)/u.test(line)) && text.trim() !== '')
    return `only comments, ${formatBytes(content.length)}`;
  if (!/^\s*<(?:!doctype\s+html|html)\b/iu.test(text) && DATA.test(text)) return undefined;
  const begins = text.trim().split(/\r?\n/u, 1)[0] ?? '';
  if (begins === '') return `only white space, ${formatBytes(content.length)}`;
  return noDump(content.length, begins);
}

/** The description of a text of this length whose first non-blank line is `begins`. */
function noDump(length: number, begins: string): string {
  return `a text of ${formatBytes(length)} that is no dump; it begins: ${show(untrust(begins), 80)}`;
}

/**
 * As `messageIn`, but only for a text that names an error: files in a backup may be short texts, and the
 * message of a failed dump stands alone.
 */
function errorIn(content: Buffer): string | undefined {
  const message = messageIn(content);
  return message !== undefined && namesError(content.toString('utf8')) ? message : undefined;
}

/**
 * What only data has: a statement that ends its line, a comment as at the beginning of a dump, JSON with one
 * record a line, LDIF.
 */
const DATA = /;[ \t]*$|^-- |^\/\*|^dn:|^\{.*\}\s*\n\{/mu;

const decoder = new TextDecoder('utf-8', { fatal: true });

/** The content if it is text: UTF-8 without control bytes that no text has. */
function textOf(content: Buffer): string | undefined {
  if (content.some((byte) => byte < 0x09 || (byte > 0x0d && byte < 0x20 && byte !== 0x1b))) return undefined;
  try {
    return decoder.decode(content);
  } catch {
    return undefined;
  }
}

/** No program prints a message with a longer line. */
const LINE_LIMIT = 8 * 1024;

const NAMES_ERROR = /\b(?:error|fatal|failed|denied|refused)\b/iu;

/** A program's message: prefixed by its name or the severity. */
const MESSAGE = /^(?:[\w./-]+: |(?:error|fatal)\b)/iu;

/** Lines that programs print below a message. */
const BELOW = /^(?:\s|(?:[\w./-]+: )?(?:detail|hint|context|statement|warning)\b)/iu;

/** A statement or a record, whatever it is about. */
const DATA_LINE = /;\s*$|^-- |^\/\*|^dn:|^\{/u;

function namesError(text: string): boolean {
  return NAMES_ERROR.test(text);
}

/**
 * Reads a text of any length line by line and decides whether every line is a program's error message, or
 * belongs to one. Stricter than the check of a short text, since a table may be about errors. The first other
 * line ends the reading. Memory is constant.
 */
class ErrorLines {
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
    this.#isOnly = isOne && !DATA_LINE.test(line) && !line.includes('\0');
    this.#first ??= line;
  }
}
