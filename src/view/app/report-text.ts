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
