import { LifeboatError } from '../base/errors.ts';
import type { JournalReader } from '../store/journal.ts';
import { isShared, openReaderOf, type StoreContext } from './store-of.ts';

/**
 * The store for looking, or undefined for a home in which nothing was ever written. A database in which no
 * store was made rejects with `journal.none`.
 */
export async function openJournalIfAny(context: StoreContext): Promise<JournalReader | undefined> {
  try {
    return await openReaderOf(context);
  } catch (thrown) {
    const isNone = thrown instanceof LifeboatError && thrown.code === 'journal.none';
    if (isNone && !(await isShared(context))) return undefined;
    throw thrown;
  }
}
