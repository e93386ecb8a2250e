import { backupProblem, problemOf } from './backup-file.ts';
import { ByteReader } from './byte-reader.ts';
import { DataInspector } from './data-inspector.ts';
import { DumpEnd } from './dump-end.ts';
import { looksLikeGzip, unpackGzip } from './gunzip.ts';
import { looksLikeTar, TAR_BLOCK } from './tar-header.ts';
import { TarInspector } from './tar-inspector.ts';

/** The kind of a backup's content. */
export interface Inspection {
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
