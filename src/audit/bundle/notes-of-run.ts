import { type JournalReader, LOG_STREAM, type StreamName } from '../../store/journal.ts';
import { readCheckpoint } from '../../store/log/checkpoint.ts';
import { hearLog, NOTHING_SAID } from '../../store/log/named-keys.ts';
import { claimOf, type Place } from '../../store/log/places/place.ts';

/** A run that armed more calls than these shows the newest of their checkpoints. */
const MOST = 100;

/**
 * The checkpoints that belong into the bundle of a run: those that name a call of it, the first one that
 * covers all its entries, and the newest of each key of the log, below which its endorsements count. Of
 * places that cannot be read there are none.
 */
export async function notesOfRun(
  journal: Pick<JournalReader, 'read'>,
  places: readonly Pick<Place, 'all'>[],
  stream: StreamName,
): Promise<readonly string[]> {
  const entries = await journal.read(stream);
  const said = hearLog(NOTHING_SAID, await journal.read(LOG_STREAM));
  const [first, last] = [entries[0]?.index ?? 0, entries.at(-1)?.index ?? 0];
  const chosen = new Set<string>();
  for (const place of places) {
    const keys = new Map(said.keys);
    let covering: string | undefined;
    let naming = 0;
    try {
      for await (const { note = '' } of place.all(said.origin ?? '')) {
        const claim = claimOf(note);
        if (claim === undefined) continue;
        if (claim.size <= first && keys.size === 0) break;
        if (claim.size > last) covering = note;
        const isNaming = claim.armed.some((call) => call.stream === stream);
        if (isNaming) naming += 1;
        if (isNaming && naming <= MOST) chosen.add(note);
        for (const [installation, key] of keys)
          if (readCheckpoint(note, [key]).result === 'signed') {
            keys.delete(installation);
            chosen.add(note);
          }
      }
    } catch {
      // The audit before the export has said that it cannot be read.
    }
    if (covering !== undefined) chosen.add(covering);
  }
  return [...chosen];
}
