import { dateAt } from '../base/date.ts';
import { EXIT, failureOf, LifeboatError } from '../base/errors.ts';
import { msOf } from '../base/instant.ts';
import { show } from '../base/text.ts';
import type { CommandContext } from '../cli/context.ts';
import type { Action } from '../cli/define.ts';
import { durationFrom } from '../cli/numbers.ts';
import { notWritten, writeNewFile } from '../cli/write-new-file.ts';
import { readFleetRecord } from '../compose/fleet-record.ts';
import { openReaderOf } from '../compose/store-of.ts';
import { loadConfig } from '../config/load.ts';
import type { Brand } from '../report/brand.ts';
import { compareReports } from '../report/comparison.ts';
import { estateOf } from '../report/estate.ts';
import type { Report } from '../report/model/model.ts';
import { type ReportFormat, renderComparison, renderEstate, renderReport } from '../report/render-report.ts';
import { findRun, listRuns } from '../runner/runs.ts';
import type { InstanceRecord, Part } from '../view/fleet/fleet-facts.ts';
import { whereRunIs } from './drill/drill-homes.ts';
import { brandOf, reportOf } from './run/run-report.ts';

interface ReportFlags {
  readonly format?: ReportFormat;
  readonly out?: string;
  readonly compare?: boolean;
  readonly all?: boolean;
  readonly since?: string;
}

/**
 * `lifeboat report RUN`: prints the record of a run, from its journal alone; `--compare` sets two runs side
 * by side, `--all` reports on all instances.
 */
export const report: Action<ReportFlags> = async (context, words, flags) => {
  assertCount(words, flags);
  if (flags.all === true) return reportAll(context, flags);
  const reports: Report[] = [];
  for (const word of words) reports.push(await reportOfRun(await whereRunIs(context, word), word));
  const format = formatOf(flags, context);
  const brand = format === 'json' ? {} : await brandOf(context);
  put(context, flags.out, await written(reports, format, context, brand));
  return EXIT.closed;
};

/** Reports on all instances of the config and of the journal, with the runs of the period. */
async function reportAll(context: CommandContext, flags: ReportFlags): Promise<number> {
  const lengthMs = durationFrom(flags.since ?? '90d', '--since', ['1h', '3650d']);
  const now = new Date();
  const since = dateAt(now.getTime() - lengthMs);
  const configured = await namesIn(context);
  const journal = await openReaderOf(context);
  try {
    const all = (await listRuns(journal)).filter(({ startedAt }) => msOf(startedAt) >= since.getTime());
    const reports: Report[] = [];
    for (const run of all) reports.push(await reportOf(journal, run));
    const known = [...configured, ...all.flatMap(({ instance, target }) => [instance, target ?? instance])];
    const names = [...new Set(known)];
    const records = await readFleetRecord(context, names);
    const estate = estateOf(
      names.map((name) => ({
        name,
        isConfigured: configured.includes(name),
        ...recordOf(records.get(name)),
      })),
      reports,
      { since, now },
    );
    const format = formatOf(flags, context);
    const brand = format === 'json' ? {} : await brandOf(context);
    put(context, flags.out, await inForm(estate, context, () => renderEstate(estate, format, brand)));
    return EXIT.closed;
  } finally {
    await journal.close();
  }
}

function recordOf(part: Part<InstanceRecord> | undefined): InstanceRecord {
  if (part?.state === 'known') return part.value;
  const { code, why } = part?.state === 'failed' ? part : { code: 'journal.unreadable', why: 'not read' };
  throw new LifeboatError(code, why);
}

/** Without a config, the journal names the instances. */
async function namesIn(context: CommandContext): Promise<readonly string[]> {
  const config = await loadConfig(context.env, context.configPath).catch((thrown: unknown) => {
    if (failureOf(thrown).code === 'config.missing') return undefined;
    throw thrown;
  });
  return config === undefined ? [] : Object.keys(config.instances);
}

/** `-o json` and `-o yaml` print the report as data, as `--format json` does. */
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

function assertCount(words: readonly string[], { compare, all }: ReportFlags): void {
  const wanted = all === true ? 0 : compare === true ? 2 : 1;
  if (words.length === wanted) return;
  throw new LifeboatError(
    'usage.runs',
    all === true
      ? 'a report on all instances names no run'
      : compare === true
        ? 'a comparison needs two runs'
        : 'a report is about one run',
    {
      hints: [
        '`lifeboat runs` lists them',
        'two side by side: lifeboat report --compare RUN RUN',
        'all instances: lifeboat report --all',
      ],
      exitCode: EXIT.usage,
    },
  );
}

async function written(
  [first, second]: readonly Report[],
  format: ReportFormat,
  context: CommandContext,
  brand: Brand,
): Promise<string> {
  if (first === undefined) return '';
  const comparison = second === undefined ? undefined : compareReports(first, second, new Date());
  return inForm(comparison ?? first, context, () =>
    comparison === undefined
      ? renderReport(first, format, brand)
      : renderComparison(comparison, format, brand),
  );
}

async function inForm(value: object, { output }: CommandContext, rendered: () => string): Promise<string> {
  if (output !== 'yaml') return rendered();
  const { printableYaml } = await import('../cli/printable-yaml.ts');
  return printableYaml(value);
}

/** Writes to stdout, or to a new file: an existing record is never overwritten. */
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
