import type { LedgerFact } from '../activities/activity.ts';
import type { Failure } from '../base/failure.ts';
import type { Entry, NewEntry } from '../store/journal.ts';
import type { CallToArm } from './run.ts';

/**
 * How an invocation ended: the result for the machine, and what else becomes durable in the same transaction.
 */
export type Performed = { readonly notes: readonly Note[]; readonly ledger: readonly LedgerFact[] } & (
  | { readonly how: 'done'; readonly output: unknown; readonly recorded?: (() => Promise<void>) | undefined }
  | { readonly how: 'failed'; readonly failure: Failure }
  | { readonly how: 'paused'; readonly failure: Failure }
);

/** An entry for the run's own stream. */
export type Note = Omit<NewEntry, 'stream'>;

export interface PerformPort {
  /** Makes notes and facts durable; what they announce must not happen before this resolves. */
  write(notes: readonly Note[], ledger?: readonly LedgerFact[]): Promise<void>;
  /** The entries of the run so far. Always the same growing array. */
  entries(): readonly Entry[];
  /**
   * Resolves when the holds last long enough for a call; awaited before it is armed, or begun if it is
   * repeatable.
   */
  lastForCall(): Promise<void>;
  /** Why a call may not be armed now, or begun if it is repeatable; undefined if it may. */
  mayArm(call: CallToArm): Promise<Failure | undefined>;
  /** Called when the call's record is on disk, before its first byte may be sent. */
  seal(): Promise<void>;
  sleep(ms: number): Promise<void>;
}

/** A refused or missing credential pauses the run; every other failure goes to the machine. */
export function failed(
  failure: Failure,
  notes: readonly Note[] = [],
  ledger: readonly LedgerFact[] = [],
): Performed {
  if (failure.code.startsWith('credentials.')) return { how: 'paused', failure, notes, ledger };
  return { how: 'failed', failure, notes, ledger };
}
