import { backupProblem, problemOf } from './backup-file.ts';
import { ByteReader } from './byte-reader.ts';
import { DataInspector } from './data-inspector.ts';
import { DumpEnd } from './dump-end.ts';
import { looksLikeGzip, unpackGzip } from './gunzip.ts';
import { looksLikeTar, TAR_BLOCK } from './tar-header.ts';
import { TarInspector } from './tar-inspector.ts';

/** What the content of a backup is. */
export interface Inspection {
  readonly content: 'tar' | 'gzip' | 'data';
  /** Entries of the tar; undefined for anything else. */
  readonly entries: number | undefined;
  /** Why there is nothing in it to recover, as what it is instead: `0 bytes`. Undefined where there is. */
  readonly empty?: string;
}

/** A gzip can be made that unpacks to itself. */
const MAX_GZIPS = 3;

/**
 * Reads content to its end and finds out what it is: a tar is walked, a gzip unpacked and what it holds
 * inspected, and a dump in SQL has to say that it is complete. Says when there is nothing in it: a dump that
 * failed is encrypted like any other. Memory is constant.
 *
 * Rejects with `backup.truncated`, `backup.corrupt` or `backup.trailing-data` for content that is not whole,
 * or with whatever `chunks` rejects with: damage of the layer around it says more about the cause.
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
    // Rejects where the layer around it does.
    while ((await reader.read()) !== undefined);
    const problem = problemOf(error);
    if (problem === undefined || !(error instanceof Error)) throw error;
    throw backupProblem(problem, `the gzip inside: ${error.message}`, error);
  }
}

/** Programs that write in blocks fill up the last one. */
async function passZeros(reader: ByteReader): Promise<void> {
  const { offset } = reader;
  for (let chunk = await reader.read(); chunk !== undefined; chunk = await reader.read()) {
    if (chunk.some((byte) => byte !== 0))
      throw backupProblem('trailing-data', `something follows the gzip data at its byte ${offset}`);
  }
}

/** What cannot be walked. */
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
