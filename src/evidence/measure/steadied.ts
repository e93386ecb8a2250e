import type { Entry } from '../../store/journal.ts';
import { readRunEntry } from '../../store/run-entries.ts';
import { instantOf } from './instant.ts';

/** A run's entries as they would be had nobody moved the clock while it was watched. */
interface Steadied {
  readonly entries: readonly Entry[];
  /** By how much the clock is ahead of where it would be; less than zero when it is behind. */
  readonly movedMs: number;
  /** By how much it was moved, each time. */
  readonly moves: readonly number[];
}

/** Takes back what the run itself noticed of its clock (`clock.moved`). Times that cannot be read stay as they are. */
export function steadied(entries: readonly Entry[]): Steadied {
  let movedMs = 0;
  const moves: number[] = [];
  const steady = entries.map((entry) => {
    const known = entry.type === 'clock.moved' ? readRunEntry(entry) : undefined;
    if (known?.type === 'clock.moved') {
      moves.push(known.body.seconds * 1000);
      movedMs += known.body.seconds * 1000;
    }
    const atMs = movedMs === 0 ? undefined : instantOf(entry.at);
    return atMs === undefined ? entry : { ...entry, at: new Date(atMs - movedMs).toISOString() };
  });
  return { entries: steady, movedMs, moves };
}
