import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Brand } from '../../report/brand.ts';
import type { DrillReport } from '../../report/drill/drill-report.ts';
import { renderDrill, renderReport } from '../../report/render-report.ts';
import { findRun } from '../../runner/runs.ts';
import type { JournalReader } from '../../store/journal.ts';
import { reportOf } from '../run/run-report.ts';
import type { ChapterProof } from './chapter.ts';

/**
 * Writes each run of a chapter as `reports/<run>/report.html` and `report.json`, and gives them in Markdown,
 * in their order.
 */
export async function runReports(
  journal: JournalReader,
  folder: string,
  { runIds, files }: Pick<ChapterProof, 'runIds' | 'files'>,
  brand: Brand,
): Promise<string[]> {
  const texts: string[] = [];
  for (const runId of runIds) {
    const report = await reportOf(journal, await findRun(journal, runId), files);
    const own = join(folder, 'reports', runId);
    await mkdir(own, { recursive: true, mode: 0o700 });
    for (const format of ['html', 'json'] as const) {
      await writeFile(join(own, `report.${format}`), renderReport(report, format, brand), { mode: 0o600 });
    }
    texts.push(renderReport(report, 'md', brand));
  }
  return texts;
}

/**
 * Writes the report of the drill, with its trend, as `report.html`, `report.json` and `report.md`; in the
 * last one the reports of its runs follow. Gives the path of the last one.
 */
export async function writeDrillReports(
  folder: string,
  report: DrillReport,
  runs: readonly string[],
  brand: Brand,
): Promise<string> {
  for (const format of ['html', 'json'] as const)
    await writeFile(join(folder, `report.${format}`), renderDrill(report, format, brand), { mode: 0o600 });
  const path = join(folder, 'report.md');
  await writeFile(path, [renderDrill(report, 'md', brand), ...runs].join('\n'), { mode: 0o600 });
  return path;
}
