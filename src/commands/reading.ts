import { LifeboatError } from '../errors.ts';
import type { JournalReader } from '../store/journal.ts';
import { openReaderOf, type StoreContext } from './store-of.ts';

/** The store for looking, or undefined when nothing was ever written to it. */
export async function openJournalIfAny(context: StoreContext): Promise<JournalReader | undefined> {
  try {
    return await openReaderOf(context);
  } catch (thrown) {
    if (thrown instanceof LifeboatError && thrown.code === 'journal.none') return undefined;
    throw thrown;
  }
}
