import type { Exchange } from './exchange.ts';
import type { Subject } from './subject.ts';

export type Revision = 61 | 62 | 'v0';

/** How much a check may change: nothing, what is harmless and put back, or whatever the document offers. */
export type Level = 'none' | 'safe' | 'all';

/** What must be there for a check to make sense; without it the check is skipped, with the reason. */
export interface Needs {
  /** `none` when left out. */
  readonly level?: Exclude<Level, 'none'>;
  /** 61 and 62 when left out: the revisions that have a V1. */
  readonly revisions?: readonly Revision[];
  /** The `backup_type` of the instance is `continuous_archiving` (true) or `standard` (false). */
  readonly archiving?: boolean;
  /** The server answers on the V0 base. */
  readonly v0?: true;
  /** A second instance that may be overwritten. */
  readonly target?: true;
  /** A token with too few rights. */
  readonly readonlyToken?: true;
  /** A file for the encryption key that the suite sets. */
  readonly key?: true;
}

export interface Check {
  /** Words joined by points: room, then promise. Never changes, since scripts refer to it. */
  readonly id: string;
  /** Section of service-api.md that makes the promise. */
  readonly section: string;
  /** The promise in plain words. */
  readonly title: string;
  readonly needs?: Needs;
  /**
   * Resolves when the promise is kept, with warnings where something beside it deserves a look. Rejects with
   * a `Violation` when it is broken, with a `Skipped` when it cannot be checked.
   */
  run(subject: Subject): Promise<void> | Promise<readonly string[]>;
}

export type Outcome =
  | { readonly kind: 'pass'; readonly warnings: readonly string[] }
  | { readonly kind: 'fail'; readonly why: string; readonly exchange?: Exchange }
  | { readonly kind: 'skip'; readonly why: string };

/** Ends a check that cannot be made. */
export function skip(why: string): never {
  throw new Skipped(why);
}

export class Skipped extends Error {
  override readonly name = 'Skipped';
}

/** A broken promise, with the answer that broke it. */
export class Violation extends Error {
  override readonly name = 'Violation';
  readonly exchange: Exchange | undefined;

  constructor(why: string, exchange?: Exchange) {
    super(why);
    this.exchange = exchange;
  }
}
