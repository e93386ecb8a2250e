import { FORMATS, renderReport } from '../../report/render-report.ts';
import type { RunSummary } from '../../runner/runs.ts';
import type { JournalReader } from '../../store/journal.ts';
import { reportOf } from '../run/run-report.ts';

/** The report of a run in each of its forms. */
export async function reportFiles(journal: JournalReader, summary: RunSummary): Promise<[string, string][]> {
  const report = await reportOf(journal, summary);
  return FORMATS.map((format) => [`report.${format}`, renderReport(report, format)]);
}
