import { backupProblem } from './backup-file.ts';
import { DataInspector } from './data-inspector.ts';
import { DumpEnd } from './dump-end.ts';
import type { Inspection } from './inspect-content.ts';
import { TarWalker } from './tar-walker.ts';

/**
 * Walks a tar and looks into its entries: one of them has to hold data, and no dump may be cut. What is wrong
 * is told by `end` only.
 */
export class TarInspector {
  readonly #walker = new TarWalker(
    () => this.#entryEnds(),
    (bytes) => {
      this.#dump.write(bytes);
      this.#entry?.write(bytes);
    },
  );
  #dump = new DumpEnd();
  /** What is wrong with the first dump that was cut. */
  #cut: string | undefined;
  /** The entry that is walked, until one was met that holds data. */
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

  /** Throws `backup.corrupt` or `backup.truncated` for a tar or a dump in it that is not whole. */
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
