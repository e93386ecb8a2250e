import type { RunSummary } from '../../store/projections/runs.ts';

/** A run in a list. Every text is printable. */
export interface RunRow extends RunSummary {
  /** How many of its follow-ups are open. */
  readonly followUps: number;
  /** Who holds it now, in words; undefined where nobody does. */
  readonly heldBy?: string | undefined;
  /** The folder of the drill that it belongs to; undefined for a run of this home. */
  readonly drill?: string | undefined;
}

/** Seconds that a run has taken, to `now` while it is open. */
export function secondsOfRun({ status, startedAt, lastAt }: RunRow, now: Date): number {
  const end = status === 'open' ? now.getTime() : Date.parse(lastAt);
  return Math.max(0, (end - Date.parse(startedAt)) / 1000);
}
