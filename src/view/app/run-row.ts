import { msOf } from '../../base/instant.ts';
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
  const end = status === 'open' ? now.getTime() : msOf(lastAt);
  return Math.max(0, (end - msOf(startedAt)) / 1000);
}

/** The report of a run, as Markdown. */
export interface ReportText {
  readonly markdown: string;
  /** The command that writes it into a file. */
  readonly command: string;
  readonly mode: 'LIVE' | 'REHEARSAL';
  /** The instance that the run is about, with the one that it goes into where that is another one. */
  readonly instance: string;
}

/** The file that the report of a run is written into, in the current folder; the `at`th name of its kind. */
export function reportFile(runId: string, at = 1): string {
  return `report-${runId}${at === 1 ? '' : `-${at}`}.html`;
}

/** The command that writes it there. */
export function reportCommand(runId: string): string {
  return `lifeboat report ${runId} --format html --out ${reportFile(runId)}`;
}
