import type { LedgerFact } from '../activities/activity.ts';
import type { Failure } from '../base/failure.ts';
import type { Entry, NewEntry } from '../store/journal.ts';
import type { CallToArm } from './run.ts';

/**
 * How an invocation ended: what the machine gets, and what else becomes durable in the same transaction.
 */
export type Performed = { readonly notes: readonly Note[]; readonly ledger: readonly LedgerFact[] } & (
  | { readonly how: 'done'; readonly output: unknown }
  | { readonly how: 'failed'; readonly failure: Failure }
  | { readonly how: 'paused'; readonly failure: Failure }
);

/** An entry for the run's own stream. */
export type Note = Omit<NewEntry, 'stream'>;

export interface PerformPort {
  /** Makes notes and facts durable; nothing that they announce may happen before it resolves. */
  write(notes: readonly Note[], ledger?: readonly LedgerFact[]): Promise<void>;
  /**
   * What the journal says so far of the run, or of the ledger for a single command; the same array each time,
   * that grows.
   */
  entries(): readonly Entry[];
  /**
   * Resolves when the holds last long enough for a call; asked before it is armed, or begun where it may be
   * repeated.
   */
  lastForCall(): Promise<void>;
  /** Why a call may not be armed now, or begun where it may be repeated; undefined where it may. */
  mayArm(call: CallToArm): Promise<Failure | undefined>;
  /** Called when what is to be sent is on disk, before the first byte may leave. */
  seal(): Promise<void>;
  sleep(ms: number): Promise<void>;
}

/** A refused or missing credential pauses the run; everything else goes to the machine. */
export function failed(
  failure: Failure,
  notes: readonly Note[] = [],
  ledger: readonly LedgerFact[] = [],
): Performed {
  if (failure.code.startsWith('credentials.')) return { how: 'paused', failure, notes, ledger };
  return { how: 'failed', failure, notes, ledger };
}
