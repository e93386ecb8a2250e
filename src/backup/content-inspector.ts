import { formatBytes } from '../base/format.ts';
import { looksLikeGzip } from './gunzip.ts';
import { errorIn, MESSAGE_LIMIT, messageIn, unpackedIfSmall } from './small-content.ts';
import { isBlank, looksLikeTar, TAR_BLOCK } from './tar-header.ts';
import { TarWalker } from './tar-walker.ts';

interface Inspection {
  readonly content: 'tar' | 'gzip' | 'data';
  /** Entries of the tar; undefined for anything else. */
  readonly entries: number | undefined;
  /** Why there is nothing in it to recover, as what it is instead: `0 bytes`. Undefined where there is. */
  readonly empty?: string;
}

/**
 * Finds out what the content of a backup is, walks it when it is a tar, and says when there is nothing in it:
 * a dump that failed is encrypted like any other. A damaged tar is reported by `end` only: a checksum of the
 * layer around it, met later, says more about the cause.
 */
export class ContentInspector {
  readonly #walker = new TarWalker(
    () => this.#entryEnds(),
    (bytes) => this.#entry?.write(bytes),
  );
  /** The entry that is walked, until one was met that holds data. */
  #entry: EntryInspector | undefined = new EntryInspector();
  /** What the first entry with content holds instead of data. */
  #notData: string | undefined;
  #head = Buffer.alloc(0);
  /** `blank`: zeros so far, which is a tar without entries or a file of zeros. */
  #content: Inspection['content'] | 'blank' | undefined;
  #bytes = 0;
  #tarProblem: unknown;

  write(chunk: Uint8Array): void {
    this.#bytes += chunk.length;
    this.#keepSmall(chunk);
    if (this.#content === 'tar') this.#walk(chunk);
    else if (this.#content === 'blank') this.#compareZeros(chunk);
    else if (this.#content === undefined) this.#recognise(chunk);
  }

  /** Throws `backup.corrupt` or `backup.truncated` for a tar that cannot be walked to its end. */
  end(): Inspection {
    if (this.#bytes === 0) return nothing('data', '0 bytes');
    const content = this.#content ?? (looksLikeGzip(this.#head) ? 'gzip' : 'data');
    if (content === 'blank') return nothing('data', `only zeros, ${formatBytes(this.#bytes)}`);
    if (content === 'tar') return this.#endOfTar();
    const isWhole = this.#bytes <= MESSAGE_LIMIT;
    const isZero = this.#content === undefined && this.#head.every((byte) => byte === 0);
    if (isZero) return nothing('data', `only zeros, ${formatBytes(this.#bytes)}`);
    const empty = !isWhole ? undefined : content === 'gzip' ? emptyGzip(this.#head) : messageIn(this.#head);
    return { content, entries: undefined, ...(empty === undefined ? {} : { empty }) };
  }

  #endOfTar(): Inspection {
    if (this.#tarProblem !== undefined) throw this.#tarProblem;
    this.#walker.end();
    const { entries, contentBytes } = this.#walker;
    const inspection = { content: 'tar', entries } as const;
    if (contentBytes === 0) return { ...inspection, empty: 'a tar in which no entry has content' };
    this.#entryEnds();
    if (this.#entry === undefined || this.#notData === undefined) return inspection;
    return { ...inspection, empty: `a tar in which no entry holds data, but ${this.#notData}` };
  }

  #entryEnds(): void {
    if (this.#entry === undefined) return;
    const found = this.#entry.end();
    if (found === 'data') this.#entry = undefined;
    else {
      this.#notData ??= found;
      this.#entry = new EntryInspector();
    }
  }

  /** As long as the content may still be a short text or a short gzip, all of it is kept. */
  #keepSmall(chunk: Uint8Array): void {
    if (this.#content === 'tar' || this.#content === 'blank') return;
    if (this.#bytes <= MESSAGE_LIMIT) this.#head = Buffer.concat([this.#head, chunk]);
    else if (this.#content !== undefined) this.#head = Buffer.alloc(0);
  }

  #recognise(chunk: Uint8Array): void {
    const isKept = this.#bytes <= MESSAGE_LIMIT;
    const begun = isKept ? this.#head : Buffer.concat([this.#head, chunk]);
    if (begun.length < TAR_BLOCK) return;
    if (looksLikeGzip(begun)) this.#content = 'gzip';
    else if (looksLikeTar(begun)) this.#content = 'tar';
    else this.#content = isBlank(begun) ? 'blank' : 'data';
    if (this.#content === 'tar') this.#walk(begun);
    else if (this.#content === 'blank') this.#compareZeros(begun);
  }

  #walk(chunk: Uint8Array): void {
    if (this.#tarProblem !== undefined) return;
    try {
      this.#walker.write(chunk);
    } catch (error) {
      this.#tarProblem = error;
    }
  }

  #compareZeros(chunk: Uint8Array): void {
    if (!isOnlyZeros(chunk)) this.#content = 'data';
  }
}

/** Whether the content of one entry of a tar is data. */
class EntryInspector {
  #begins = Buffer.alloc(0);
  #bytes = 0;
  #isBlank = true;

  write(bytes: Uint8Array): void {
    this.#bytes += bytes.length;
    if (this.#isBlank) this.#isBlank = isOnlyZeros(bytes);
    if (this.#bytes <= MESSAGE_LIMIT) this.#begins = Buffer.concat([this.#begins, bytes]);
  }

  /** `data`, or what it is instead; undefined for an entry without content, which says nothing. */
  end(): 'data' | string | undefined {
    if (this.#bytes === 0) return undefined;
    if (this.#isBlank) return `only zeros, ${formatBytes(this.#bytes)}`;
    return this.#bytes > MESSAGE_LIMIT ? 'data' : (errorIn(this.#begins) ?? 'data');
  }
}

function isOnlyZeros(bytes: Uint8Array): boolean {
  // Equal to itself moved by one byte: all bytes are the first one.
  return bytes[0] === 0 && Buffer.compare(bytes.subarray(1), bytes.subarray(0, -1)) === 0;
}

/** A gzip of nothing is as empty as nothing. One that is damaged or large is not judged. */
function emptyGzip(packed: Buffer): string | undefined {
  const inner = unpackedIfSmall(packed);
  if (inner === undefined) return undefined;
  const inspector = new ContentInspector();
  inspector.write(inner);
  try {
    const { empty } = inspector.end();
    return empty === undefined ? undefined : `a gzip of ${empty}`;
  } catch {
    return undefined;
  }
}

function nothing(content: Inspection['content'], empty: string): Inspection {
  return { content, entries: undefined, empty };
}
