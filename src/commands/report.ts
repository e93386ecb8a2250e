import { dateAt } from '../base/date.ts';
import { EXIT, failureOf, LifeboatError } from '../base/errors.ts';
import { counted } from '../base/format.ts';
import { msOf } from '../base/instant.ts';
import type { CommandContext } from '../cli/context.ts';
import { type Counted, countedOn } from '../cli/counted.ts';
import type { Action } from '../cli/define.ts';
import { durationFrom } from '../cli/numbers.ts';
import { putNew as put } from '../cli/write-new-file.ts';
import { readFleetRecord } from '../compose/fleet-record.ts';
import { openReaderOf } from '../compose/store-of.ts';
import { loadConfig } from '../config/load.ts';
import type { Brand } from '../report/brand.ts';
import { type Comparison, compareReports } from '../report/comparison.ts';
import { type EstateReport, estateOf, estateReport } from '../report/estate.ts';
import type { Report } from '../report/model/model.ts';
import { comparePlanReports } from '../report/plan/plan-comparison.ts';
import type { PlanReport } from '../report/plan/plan-report.ts';
import { type ReportFormat, renderComparison, renderEstate, renderReport } from '../report/render-report.ts';
import { findRun, listRuns } from '../runner/runs.ts';
import type { JournalReader } from '../store/journal.ts';
import type { RunSummary } from '../store/projections/run-summary.ts';
import type { InstanceRecord, Part } from '../view/fleet/fleet-facts.ts';
import { whereRunIs } from './drill/drill-homes.ts';
import { isPlanRun, type PlanReports, planReportOf, type TakeChild } from './plans/plan-report-of.ts';
import { brandOf, groundOf, reportOf, reportOfEntries } from './run/run-report.ts';

interface ReportFlags {
  readonly format?: ReportFormat;
  readonly out?: string;
  readonly compare?: boolean;
  readonly all?: boolean;
  readonly since?: string;
}

/**
 * `lifeboat report RUN`: a run's record, from its journal alone; `--compare`: two; `--all`: all instances.
 */
export const report: Action<ReportFlags> = async (context, words, flags) => {
  assertCount(words, flags);
  if (flags.all === true) return reportAll(context, flags);
  const format = formatOf(flags, context);
  const brand = format === 'json' ? {} : await brandOf(context);
  const { planReportFiles } = await import('./plans/put-plan-report.ts');
  const files = planReportFiles(context, { out: flags.out, format, brand });
  const found: Found[] = [];
  const progress = countedOn(context, runsRead);
  try {
    const take = counting(progress, flags.compare === true ? undefined : files.take);
    for (const word of words) found.push(await reportOfRun(await whereRunIs(context, word), word, take));
  } finally {
    progress.end();
  }
  const [first] = found;
  if (first !== undefined && 'children' in first && flags.compare !== true) await files.put(first);
  else put(context, flags.out, await written(found, format, context, brand));
  return EXIT.closed;
};

type Found = Report | PlanReports;

const runsRead = (done: number) => `read ${counted(done, 'run')}`;

/** Also counts the runs: those of a plan of ten thousand are read for minutes. */
function counting(progress: Counted, take: TakeChild = () => undefined): TakeChild {
  let done = 0;
  return (...child) => {
    take(...child);
    done += 1;
    progress.count(done);
  };
}

/** Reports on all instances of the config and of the journal, with the runs of the period. */
async function reportAll(context: CommandContext, flags: ReportFlags): Promise<number> {
  const lengthMs = durationFrom(flags.since ?? '90d', '--since', ['1h', '3650d']);
  const now = new Date();
  const since = dateAt(now.getTime() - lengthMs);
  const configured = await namesIn(context);
  const journal = await openReaderOf(context);
  try {
    const begun = (await listRuns(journal)).filter(({ startedAt }) => msOf(startedAt) >= since.getTime());
    // The steps of a plan that are no runbooks are in the record of the plan.
    const all = begun.filter((run) => !isPlanRun(run) && run.runbook !== 'plan-step');
    const { reports, plans } = await reportsOf(context, journal, begun, all);
    const known = [...configured, ...all.flatMap(({ instance, target }) => [instance, target ?? instance])];
    const names = [...new Set(known)];
    const records = await readFleetRecord(context, names);
    const estate = estateOf(
      names.map((name) => ({
        name,
        isConfigured: configured.includes(name),
        ...recordOf(records.get(name)),
      })),
      all.flatMap(({ runId }) => reports.get(runId) ?? []),
      { since, now, plans },
    );
    const format = formatOf(flags, context);
    const brand = format === 'json' ? {} : await brandOf(context);
    put(context, flags.out, await inForm(estate, context, () => renderEstate(estate, format, brand)));
    return EXIT.closed;
  } finally {
    await journal.close();
  }
}

/** Of the runs of plans, with those that they started, and of all others. */
async function reportsOf(
  context: CommandContext,
  journal: JournalReader,
  begun: readonly RunSummary[],
  all: readonly RunSummary[],
): Promise<{ readonly reports: ReadonlyMap<string, EstateReport>; readonly plans: readonly PlanReport[] }> {
  const reports = new Map<string, EstateReport>();
  const plans: PlanReport[] = [];
  const progress = countedOn(context, runsRead);
  const keep = (id: string, one: Report) => {
    reports.set(id, estateReport(one));
    progress.count(reports.size);
  };
  try {
    for (const run of begun.filter(isPlanRun)) {
      const found = await planReportOf(journal, run, keep);
      if (found !== undefined) plans.push(found.plan);
    }
    const ground = await groundOf(journal);
    for (const run of all.filter(({ runId }) => !reports.has(runId))) {
      const entries = await journal.read(`run/${run.runId}`);
      keep(run.runId, await reportOfEntries(journal, run, { entries, ground }));
    }
    return { reports, plans };
  } finally {
    progress.end();
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

async function reportOfRun(
  context: CommandContext,
  word: string,
  take: TakeChild | undefined,
): Promise<Found> {
  const journal = await openReaderOf(context);
  try {
    const run = await findRun(journal, word);
    return (
      (isPlanRun(run) ? await planReportOf(journal, run, take) : undefined) ?? (await reportOf(journal, run))
    );
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
  [first, second]: readonly Found[],
  format: ReportFormat,
  context: CommandContext,
  brand: Brand,
): Promise<string> {
  if (first === undefined) return '';
  if (second !== undefined) {
    const comparison = compared(first, second);
    return inForm(comparison, context, () => renderComparison(comparison, format, brand));
  }
  if ('children' in first) return '';
  return inForm(first, context, () => renderReport(first, format, brand));
}

/** Like is compared with like. */
function compared(first: Found, second: Found): Comparison {
  const now = new Date();
  if ('children' in first && 'children' in second) return comparePlanReports(first.plan, second.plan, now);
  if (!('children' in first) && !('children' in second)) return compareReports(first, second, now);
  throw new LifeboatError('usage.runs', 'the run of a plan is compared with another run of a plan', {
    hints: ['`lifeboat runs` lists them'],
    exitCode: EXIT.usage,
  });
}

async function inForm(value: object, { output }: CommandContext, rendered: () => string): Promise<string> {
  if (output !== 'yaml') return rendered();
  const { printableYaml } = await import('../cli/printable-yaml.ts');
  return printableYaml(value);
}
