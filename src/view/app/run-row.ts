import { msOf } from '../../base/instant.ts';
import type { ListedRun } from '../../store/projections/run-summary.ts';

/** A run in a list, with who holds it now, in words; undefined where no process does. Printable. */
export type RunRow = ListedRun & { readonly heldBy?: string | undefined };

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
  readonly mode: ListedRun['mode'];
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
