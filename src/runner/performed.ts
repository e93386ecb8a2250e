import type { LedgerFact } from '../activities/activity.ts';
import type { Failure } from '../base/failure.ts';
import type { Entry, NewEntry } from '../store/journal.ts';
import type { CallToArm } from './run.ts';

/** How an invocation ended: the machine's result, and what becomes durable in the same transaction. */
export type Performed = { readonly notes: readonly Note[]; readonly ledger: readonly LedgerFact[] } & (
  | { readonly how: 'done'; readonly output: unknown; readonly recorded?: (() => Promise<void>) | undefined }
  | { readonly how: 'failed'; readonly failure: Failure }
  | { readonly how: 'paused'; readonly failure: Failure }
);

export type Note = Omit<NewEntry, 'stream'>;

export interface PerformPort {
  /** Makes notes and facts durable; what they announce must not happen before this resolves. */
  write(notes: readonly Note[], ledger?: readonly LedgerFact[]): Promise<void>;
  /** The entries of the run so far. Always the same growing array. */
  entries(): readonly Entry[];
  /** Resolves when the holds last for a call; awaited before it is armed, or begun if repeatable. */
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
