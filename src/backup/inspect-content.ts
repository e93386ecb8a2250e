import { formatBytes } from '../base/format.ts';
import { show, untrust } from '../base/text.ts';
import { backupProblem, problemOf } from './backup-file.ts';
import { ByteReader } from './byte-reader.ts';
import { looksLikeGzip, unpackGzip } from './gunzip.ts';
import { looksLikeTar, TAR_BLOCK, TarWalker } from './tar-walker.ts';

interface Inspection {
  readonly content: 'tar' | 'gzip' | 'data';
  /** Entries of the tar; undefined for anything else. */
  readonly entries: number | undefined;
  /** What the content is if there is nothing to recover: `0 bytes`. Undefined if there is. */
  readonly empty?: string;
}

/** A gzip can be constructed that unpacks to itself. */
const MAX_GZIPS = 3;

/**
 * Reads content to its end: walks a tar, unpacks a gzip and inspects its content, and checks that an SQL dump
 * says it is complete. Reports content with nothing to recover: a failed dump is encrypted like any other.
 * Memory is constant. Rejects with `backup.truncated`, `backup.corrupt` or `backup.trailing-data` for
 * incomplete content, or with the error of `chunks`: damage of the outer layer says more about the cause.
 */
export async function inspectContent(chunks: AsyncIterable<Uint8Array>): Promise<Inspection> {
  const source = chunks[Symbol.asyncIterator]();
  try {
    return await inspect(new ByteReader(source), MAX_GZIPS);
  } finally {
    await source.return?.();
  }
}

async function inspect(reader: ByteReader, gzips: number): Promise<Inspection> {
  const head = Buffer.from(await reader.peek(TAR_BLOCK));
  if (gzips > 0 && looksLikeGzip(head)) return await inspectGzip(reader, gzips - 1);
  const isTar = head.length === TAR_BLOCK && looksLikeTar(head);
  const inspector = isTar ? new TarInspector() : new PlainInspector();
  for (let chunk = await reader.read(); chunk !== undefined; chunk = await reader.read())
    inspector.write(chunk);
  return inspector.end();
}

async function inspectGzip(reader: ByteReader, gzips: number): Promise<Inspection> {
  try {
    const { empty } = await inspect(new ByteReader(unpackGzip(reader)), gzips);
    await passZeros(reader);
    return {
      content: 'gzip',
      entries: undefined,
      ...(empty === undefined ? {} : { empty: `a gzip of ${empty}` }),
    };
  } catch (error) {
    // Rejects if the outer layer does.
    while ((await reader.read()) !== undefined);
    const problem = problemOf(error);
    if (problem === undefined || !(error instanceof Error)) throw error;
    throw backupProblem(problem, `the gzip inside: ${error.message}`, error);
  }
}

/** Programs that write in blocks pad the last one. */
async function passZeros(reader: ByteReader): Promise<void> {
  const { offset } = reader;
  for (let chunk = await reader.read(); chunk !== undefined; chunk = await reader.read()) {
    if (chunk.some((byte) => byte !== 0))
      throw backupProblem('trailing-data', `something follows the gzip data at its byte ${offset}`);
  }
}

/** Content that cannot be walked. */
class PlainInspector {
  readonly #data = new DataInspector('whole');
  readonly #dump = new DumpEnd();

  write(chunk: Uint8Array): void {
    this.#data.write(chunk);
    this.#dump.write(chunk);
  }

  end(): Inspection {
    const cut = this.#dump.end();
    if (cut !== undefined) throw backupProblem('truncated', cut);
    const found = this.#data.end() ?? '0 bytes';
    return { content: 'data', entries: undefined, ...(found === 'data' ? {} : { empty: found }) };
  }
}

/** At least one entry must hold data, and no dump may be truncated. Only `end` reports problems. */
class TarInspector {
  readonly #walker = new TarWalker(
    () => this.#entryEnds(),
    (bytes) => {
      this.#dump.write(bytes);
      this.#entry?.write(bytes);
    },
  );
  #dump = new DumpEnd();
  #cut: string | undefined;
  /** The inspector of the current entry, until an entry with data was found. */
  #entry: DataInspector | undefined = new DataInspector('part');
  /** What the first entry with content holds, if not data. */
  #notData: string | undefined;
  #problem: unknown;

  write(chunk: Uint8Array): void {
    if (this.#problem !== undefined) return;
    try {
      this.#walker.write(chunk);
    } catch (error) {
      this.#problem = error;
    }
  }

  /** Throws `backup.corrupt` or `backup.truncated` for an incomplete tar or dump in it. */
  end(): Inspection {
    if (this.#problem !== undefined) throw this.#problem;
    this.#walker.end();
    this.#entryEnds();
    if (this.#cut !== undefined) throw backupProblem('truncated', this.#cut);
    const { entries, contentBytes } = this.#walker;
    const inspection = { content: 'tar', entries } as const;
    if (contentBytes === 0) return { ...inspection, empty: 'a tar in which no entry has content' };
    if (this.#entry === undefined || this.#notData === undefined) return inspection;
    return { ...inspection, empty: `a tar in which no entry holds data, but ${this.#notData}` };
  }

  #entryEnds(): void {
    this.#cut ??= this.#dump.end();
    this.#dump = new DumpEnd();
    if (this.#entry === undefined) return;
    const found = this.#entry.end();
    if (found === 'data') this.#entry = undefined;
    else {
      this.#notData ??= found;
      this.#entry = new DataInspector('part');
    }
  }
}

/** The first line of an SQL dump, and the one that its program writes at the very end. */
const DUMPS = [
  { begins: '-- PostgreSQL database dump', ends: '-- PostgreSQL database dump complete' },
  { begins: '-- PostgreSQL database cluster dump', ends: '-- PostgreSQL database cluster dump complete' },
  { begins: '-- MySQL dump ', ends: '-- Dump completed' },
  { begins: '-- MariaDB dump ', ends: '-- Dump completed' },
] as const;

/** The first line may be a warning that the program printed, or a comment for the client. */
const HEAD = 512;

/** Longer than each of the lines, including its line end. */
const SEAM = 64;

/** Detects a truncated SQL dump: each in a row must say at its end that it is complete. Constant memory. */
class DumpEnd {
  #head: Buffer | undefined = Buffer.alloc(0);
  #kind: (typeof DUMPS)[number] | undefined;
  #isOpen = true;
  #seam = Buffer.alloc(0);

  write(bytes: Uint8Array): void {
    if (this.#head === undefined) {
      if (this.#kind !== undefined) this.#look(this.#kind, bytes);
      return;
    }
    this.#head = Buffer.concat([this.#head, bytes]);
    if (this.#head.length >= HEAD) this.#recognise(this.#head);
  }

  /** The problem in words; undefined for a whole dump and for anything that is not a dump. */
  end(): string | undefined {
    if (this.#head !== undefined) this.#recognise(this.#head);
    if (this.#kind === undefined || !this.#isOpen) return undefined;
    return `the dump inside ends early: its last line is not "${this.#kind.ends}"`;
  }

  #recognise(head: Buffer): void {
    this.#head = undefined;
    const lines = head.toString('latin1', 0, HEAD).split('\n');
    for (const line of lines) {
      const text = line.replace(/\r$/u, '');
      this.#kind ??= DUMPS.find(({ begins }) =>
        begins.endsWith(' ') ? text.startsWith(begins) : text === begins,
      );
    }
    if (this.#kind !== undefined) this.#look(this.#kind, head);
  }

  /** The last such line decides: the beginning of a dump or its end. */
  #look({ begins, ends }: (typeof DUMPS)[number], bytes: Uint8Array): void {
    const text = Buffer.concat([this.#seam, bytes]);
    const begin = text.lastIndexOf(`\n${begins}`);
    const end = text.lastIndexOf(`\n${ends}`);
    // The end line of one kind starts with its beginning line.
    if (begin >= 0 || end >= 0) this.#isOpen = end < begin;
    this.#seam = Buffer.from(text.subarray(-SEAM));
  }
}

/** `whole`: the content of a backup; `part`: a file in it, maybe a short text. Memory is constant. */
class DataInspector {
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
 * Describes a short text without any statement: the message of a failed dump, or a proxy's page, packed as if
 * it were data. Undefined for possible data. `content`: all of it, at most `MESSAGE_LIMIT` bytes.
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

/** Only for a text that names an error: a file in a backup may be a short text. */
function errorIn(content: Buffer): string | undefined {
  const message = messageIn(content);
  return message !== undefined && namesError(content.toString('utf8')) ? message : undefined;
}

/** A statement that ends its line, a comment as a dump begins with, JSON with one record a line, LDIF. */
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
 * Decides whether every line of a text is a program's error message or belongs to one. Stricter than for a
 * short text: a table may be about errors. Another line ends the reading. Memory is constant.
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
