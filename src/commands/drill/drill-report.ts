import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { formatSeconds } from '../../base/format.ts';
import type { Brand } from '../../report/brand.ts';
import type { DrillReport } from '../../report/drill/drill-report.ts';
import { renderDrill, renderReport } from '../../report/render-report.ts';
import { findRun } from '../../runner/runs.ts';
import type { JournalReader } from '../../store/journal.ts';
import { reportOf } from '../run/run-report.ts';
import type { ChapterProof } from './chapter.ts';

/** The objectives of the config in milliseconds, by instance. */
type Promised = Readonly<
  Record<
    string,
    { readonly objectives: { readonly rto?: number | undefined; readonly rpo?: number | undefined } }
  >
>;

/** A chapter's section of the report, in Markdown. */
export function drillReport(proof: ChapterProof, instances: Promised): string {
  const objectives = instances[proof.instance]?.objectives ?? {};
  return [
    `## The drill: ${proof.title}`,
    '',
    ...measureLines(proof, objectives).map((line) => `- ${line}`),
    `- verdict: ${verdictOf(proof)}`,
    '',
  ].join('\n');
}

export function drillSummary(
  proofs: readonly ChapterProof[],
  {
    proven,
    report,
    journal,
    due,
    commands,
  }: {
    readonly proven: boolean;
    readonly report: string;
    readonly journal: string;
    readonly due: string;
    readonly commands: readonly string[];
  },
  instances: Promised,
): string {
  return [
    proven ? 'drill: proven' : 'drill: NOT PROVEN',
    ...proofs.flatMap((proof) => chapterLines(proof, instances)),
    `  report: ${report}`,
    `  journal: ${journal}`,
    `  next drill due: ${due}`,
    '  to look at it again:',
    ...commands.map((command) => `    ${command}`),
    '',
  ].join('\n');
}

/** The verdict on the data, if everything that was checked holds. */
function verdictOf({ proven, verdict }: ChapterProof): string {
  return proven ? verdict : 'differs, NOT PROVEN';
}

function chapterLines(proof: ChapterProof, instances: Promised): string[] {
  const rows = proof.tables.reduce((sum, table) => sum + table.rows, 0);
  const tables = proof.tables
    .map(({ name, rows: count, equal }) => `${name} ${count}${equal ? '' : ' (DIFFERENT)'}`)
    .join(', ');
  const broken = proof.checks.filter(({ holds }) => !holds).map(({ what }) => `    NOT TRUE: ${what}`);
  return [
    `  ${proof.title}: ${verdictOf(proof)}`,
    ...(proof.tables.length === 0 ? [] : [`    rows compared: ${rows} (${tables})`]),
    ...broken,
    ...measureLines(proof, instances[proof.instance]?.objectives ?? {}).map((line) => `    ${line}`),
    `    run ${proof.runIds.join(', ')}`,
  ];
}

function measureLines(
  { measures }: ChapterProof,
  objectives: { readonly rto?: number | undefined; readonly rpo?: number | undefined },
): string[] {
  const line = (
    name: string,
    seconds: number | undefined,
    limit: number | undefined,
    how: string | undefined,
  ) =>
    seconds === undefined
      ? []
      : [`${name}: ${measured(seconds, limit)}${how === undefined ? '' : `, ${how}`}`];
  return [
    ...line('RTO', measures.rtoSeconds, objectives.rto, measures.rtoHow),
    ...line('RPO', measures.rpoSeconds, objectives.rpo, measures.rpoHow),
    ...line('data lost, measured on rows', measures.rowsLostSeconds, undefined, measures.rowsLostHow),
  ];
}

function measured(seconds: number, objectiveMs: number | undefined): string {
  const text = formatSeconds(seconds);
  if (objectiveMs === undefined) return text;
  const verdict = seconds * 1000 <= objectiveMs ? 'met' : 'MISSED';
  return `${text} (objective ${formatSeconds(objectiveMs / 1000)}: ${verdict})`;
}

/** Writes `reports/<run>/report.html` and `.json` for each run; returns the Markdown, in order. */
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

/** Writes `report.html`, `.json` and `.md` with the trend; returns the path of the last, with its runs. */
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
