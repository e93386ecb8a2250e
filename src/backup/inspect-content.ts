import { backupProblem, problemOf } from './backup-file.ts';
import { ByteReader } from './byte-reader.ts';
import { DataInspector } from './data-inspector.ts';
import { looksLikeGzip, unpackGzip } from './gunzip.ts';
import { looksLikeTar, TAR_BLOCK, TarWalker } from './tar-walker.ts';

/** The kind of a backup's content. */
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
 * Reads content to its end and determines its kind: a tar is walked, a gzip is unpacked and its content
 * inspected, and an SQL dump must say that it is complete. Reports content without anything to recover: a
 * failed dump is encrypted like any other. Memory is constant.
 *
 * Rejects with `backup.truncated`, `backup.corrupt` or `backup.trailing-data` for incomplete content, or with
 * the error of `chunks`: damage of the outer layer says more about the cause.
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

/**
 * Walks a tar and inspects its entries: at least one must hold data, and no dump may be truncated. Only `end`
 * reports problems.
 */
class TarInspector {
  readonly #walker = new TarWalker(
    () => this.#entryEnds(),
    (bytes) => {
      this.#dump.write(bytes);
      this.#entry?.write(bytes);
    },
  );
  #dump = new DumpEnd();
  /** The problem of the first truncated dump. */
  #cut: string | undefined;
  /** The inspector of the current entry, until an entry with data was found. */
  #entry: DataInspector | undefined = new DataInspector('part');
  /** What the first entry with content holds instead of data. */
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

/**
 * Reads a text piece by piece and detects a truncated SQL dump: a complete dump says so at its end, and so
 * does each of several in a row. Memory is constant.
 */
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
