import { LifeboatError } from '../errors.ts';
import type { JournalReader } from '../store/journal.ts';
import { openForReading } from '../store/open-for-reading.ts';

/** The journal of a home for looking, or undefined when there is none yet. */
export async function openJournalIfAny(home: string): Promise<JournalReader | undefined> {
  try {
    return await openForReading({ home });
  } catch (thrown) {
    if (thrown instanceof LifeboatError && thrown.code === 'journal.none') return undefined;
    throw thrown;
  }
}
