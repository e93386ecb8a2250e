import { looksLikeGzip } from './gunzip.ts';
import { looksLikeTar, TAR_BLOCK } from './tar-header.ts';
import { TarWalker } from './tar-walker.ts';

interface Inspection {
  readonly content: 'tar' | 'gzip' | 'data';
  /** Entries of the tar; undefined for anything else. */
  readonly entries: number | undefined;
}

/**
 * Finds out what the content of a backup is and walks it when it is a tar. A damaged tar is reported by `end`
 * only: a checksum of the layer around it, met later, says more about the cause.
 */
export class ContentInspector {
  readonly #walker = new TarWalker();
  #head = Buffer.alloc(0);
  /** `blank`: zeros so far, which is a tar without entries or a file of zeros. */
  #content: Inspection['content'] | 'blank' | undefined;
  #blankBytes = 0;
  #tarProblem: unknown;

  write(chunk: Uint8Array): void {
    if (this.#content === 'tar') this.#walk(chunk);
    else if (this.#content === 'blank') this.#countZeros(chunk);
    else if (this.#content === undefined) this.#collect(chunk);
  }

  /** Throws `backup.corrupt` or `backup.truncated` for a tar that cannot be walked to its end. */
  end(): Inspection {
    if (this.#content === 'blank' && this.#blankBytes >= 2 * TAR_BLOCK) return { content: 'tar', entries: 0 };
    if (this.#content === 'gzip' || (this.#content === undefined && looksLikeGzip(this.#head))) {
      return { content: 'gzip', entries: undefined };
    }
    if (this.#content !== 'tar') return { content: 'data', entries: undefined };
    if (this.#tarProblem !== undefined) throw this.#tarProblem;
    this.#walker.end();
    return { content: 'tar', entries: this.#walker.entries };
  }

  #collect(chunk: Uint8Array): void {
    const head = Buffer.concat([this.#head, chunk]);
    this.#head = head;
    if (head.length < TAR_BLOCK) return;
    this.#head = Buffer.alloc(0);
    if (looksLikeGzip(head)) this.#content = 'gzip';
    else if (looksLikeTar(head)) this.#content = 'tar';
    else this.#content = 'blank';
    this.write(head);
  }

  #walk(chunk: Uint8Array): void {
    if (this.#tarProblem !== undefined) return;
    try {
      this.#walker.write(chunk);
    } catch (error) {
      this.#tarProblem = error;
    }
  }

  #countZeros(chunk: Uint8Array): void {
    this.#blankBytes += chunk.length;
    // Equal to itself moved by one byte: all bytes are the first one.
    const same = Buffer.compare(chunk.subarray(1), chunk.subarray(0, -1)) === 0;
    if (chunk[0] !== 0 || !same) this.#content = 'data';
  }
}
