import { EXIT, LifeboatError } from '../base/errors.ts';
import { show } from '../base/text.ts';
import type { CommandContext } from '../cli/context.ts';
import type { Action } from '../cli/define.ts';
import { notWritten, writeNewFile } from '../cli/write-new-file.ts';
import { openReaderOf } from '../compose/store-of.ts';
import type { Brand } from '../report/brand.ts';
import { compareReports } from '../report/comparison.ts';
import type { Report } from '../report/model/model.ts';
import { type ReportFormat, renderComparison, renderReport } from '../report/render-report.ts';
import { findRun } from '../runner/runs.ts';
import { whereRunIs } from './drill/drill-homes.ts';
import { brandOf, reportOf } from './run/run-report.ts';

interface ReportFlags {
  readonly format?: ReportFormat;
  readonly out?: string;
  readonly compare?: boolean;
}

/**
 * `lifeboat report RUN`: the record of a run, from its journal alone; `--compare` sets two runs side by side.
 */
export const report: Action<ReportFlags> = async (context, words, flags) => {
  refuseCount(words, flags);
  const reports: Report[] = [];
  for (const word of words) reports.push(await reportOfRun(await whereRunIs(context, word), word));
  const format = formatOf(flags, context);
  const brand = format === 'json' ? {} : await brandOf(context);
  put(context, flags.out, await written(reports, format, context.output === 'yaml', brand));
  return EXIT.closed;
};

/** `-o json` and `-o yaml` are the report as data, as `--format json` is. */
function formatOf({ format }: ReportFlags, { output = 'table' }: CommandContext): ReportFormat {
  if (output === 'table') return format ?? 'md';
  if (format === undefined || format === 'json') return 'json';
  throw new LifeboatError('usage.output', `two output formats are named: ${format} and ${output}`, {
    hints: ['leave out --format or -o'],
    exitCode: EXIT.usage,
  });
}

async function reportOfRun(context: CommandContext, word: string): Promise<Report> {
  const journal = await openReaderOf(context);
  try {
    return await reportOf(journal, await findRun(journal, word));
  } finally {
    await journal.close();
  }
}

function refuseCount(words: readonly string[], { compare }: ReportFlags): void {
  const wanted = compare === true ? 2 : 1;
  if (words.length === wanted) return;
  throw new LifeboatError(
    'usage.runs',
    compare === true ? 'a comparison needs two runs' : 'a report is about one run',
    {
      hints: ['`lifeboat runs` lists them', 'two side by side: lifeboat report --compare RUN RUN'],
      exitCode: EXIT.usage,
    },
  );
}

async function written(
  [first, second]: readonly Report[],
  format: ReportFormat,
  isYaml: boolean,
  brand: Brand,
): Promise<string> {
  if (first === undefined) return '';
  const comparison = second === undefined ? undefined : compareReports(first, second, new Date());
  if (isYaml) {
    const { printableYaml } = await import('../cli/printable-yaml.ts');
    return printableYaml(comparison ?? first);
  }
  return comparison === undefined
    ? renderReport(first, format, brand)
    : renderComparison(comparison, format, brand);
}

/** To stdout, or into a file of its own: a record that is there already is not written over. */
function put({ stdout, stderr }: CommandContext, out: string | undefined, text: string): void {
  if (out === undefined) {
    stdout.write(text);
    return;
  }
  try {
    writeNewFile(out, text);
  } catch (cause) {
    throw notWritten(out, cause);
  }
  stderr.write(`written: ${show(out, 200)}\n`);
}
