import { LifeboatError } from '../errors.ts';
import type { JournalReader } from '../journal/journal.ts';
import { openForReading } from '../journal/open-for-reading.ts';

/** The journal of a home for looking, or undefined when there is none yet. */
export async function openJournalIfAny(home: string): Promise<JournalReader | undefined> {
  try {
    return await openForReading({ home });
  } catch (thrown) {
    if (thrown instanceof LifeboatError && thrown.code === 'journal.none') return undefined;
    throw thrown;
  }
}
