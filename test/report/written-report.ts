import { renderReport } from '../../src/report/render-report.ts';
import { buildReport, type ReportOptions } from '../../src/report/report.ts';
import type { Entry } from '../../src/store/journal.ts';

/** The record of a run in Markdown. */
export function runReport(entries: readonly Entry[], options: ReportOptions): string {
  return renderReport(buildReport(entries, options), 'md');
}
