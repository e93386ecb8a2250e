import type { CommandContext } from '../../cli/context.ts';
import { isTaken, notWritten, writeNewFile } from '../../cli/write-new-file.ts';
import { openReaderOf } from '../../compose/store-of.ts';
import type { ReportFormat } from '../../report/render-report.ts';
import { findRun } from '../../runner/runs.ts';
import type { RunSummary } from '../../store/projections/run-summary.ts';
import { type ReportText, reportCommand, reportFile } from '../../view/app/sources.ts';
import { whereRunIs } from '../drill/drill-homes.ts';
import { brandOf } from '../run/run-report.ts';

/** The report of a run as `lifeboat report` prints it. Rejects as that does. */
export async function loadReport(context: CommandContext, runId: string): Promise<ReportText> {
  const { run, text } = await renderedReport(context, runId, 'md');
  return {
    markdown: text,
    command: reportCommand(run.runId),
    mode: run.mode,
    instance: run.target === undefined ? run.instance : `${run.instance} -> ${run.target}`,
  };
}

/** How many file names to try. */
const MAX_FILES = 1_000;

/** Writes the report as HTML to a new file in the current folder and returns the file's name. */
export async function writeReport(context: CommandContext, runId: string): Promise<string> {
  const { run, text } = await renderedReport(context, runId, 'html');
  for (let at = 1; at <= MAX_FILES; at += 1) {
    const file = reportFile(run.runId, at);
    try {
      writeNewFile(file, text);
      return file;
    } catch (thrown) {
      if ((thrown as NodeJS.ErrnoException).code !== 'EEXIST') throw notWritten(file, thrown);
    }
  }
  throw isTaken(reportFile(run.runId, MAX_FILES));
}

async function renderedReport(
  context: CommandContext,
  runId: string,
  format: ReportFormat,
): Promise<{ readonly run: RunSummary; readonly text: string }> {
  const { reportOf } = await import('../run/run-report.ts');
  const { renderReport } = await import('../../report/render-report.ts');
  const journal = await openReaderOf(await whereRunIs(context, runId));
  try {
    const run = await findRun(journal, runId);
    return { run, text: renderReport(await reportOf(journal, run), format, await brandOf(context)) };
  } finally {
    await journal.close();
  }
}
