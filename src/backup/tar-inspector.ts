import { backupProblem } from './backup-file.ts';
import { DataInspector } from './data-inspector.ts';
import { DumpEnd } from './dump-end.ts';
import type { Inspection } from './inspect-content.ts';
import { TarWalker } from './tar-walker.ts';

/**
 * Walks a tar and inspects its entries: at least one must hold data, and no dump may be truncated. Only `end`
 * reports problems.
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
