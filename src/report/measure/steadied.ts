import { instantOf } from '../../base/instant.ts';
import type { Entry } from '../../store/journal.ts';
import { readRunEntry } from '../../store/run-entries.ts';

/**
 * A run's entries as they would be had nobody moved the clock while it was watched: what the run itself
 * noticed of its clock (`clock.moved`) is taken back. Times that cannot be read stay as they are.
 */
export function steadied(entries: readonly Entry[]): readonly Entry[] {
  let movedMs = 0;
  return entries.map((entry) => {
    const known = entry.type === 'clock.moved' ? readRunEntry(entry) : undefined;
    if (known?.type === 'clock.moved' && known.body.entries === undefined)
      movedMs += known.body.seconds * 1000;
    const atMs = movedMs === 0 ? undefined : instantOf(entry.at);
    return atMs === undefined ? entry : { ...entry, at: new Date(atMs - movedMs).toISOString() };
  });
}
