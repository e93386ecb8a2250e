import type { LogHead } from '../journal.ts';
import { EMPTY_ROOT } from './merkle.ts';
import { claimOf } from './places/place.ts';

/** The head of a log in which nothing was ever written. */
export const EMPTY_LOG: LogHead = { size: 0, root: EMPTY_ROOT.toString('hex'), note: undefined };

/**
 * The root that a head says, for a store whose entries do not give it any more: whoever looks at the head of
 * such a store has to learn its size. Throws `error`, why they do not, where the head says none either.
 */
export function rootSaid({ note }: { readonly note: string }, error: unknown): string {
  const root = claimOf(note)?.root;
  if (root === undefined) throw error;
  return root;
}
