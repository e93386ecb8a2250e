import type { PlanInput } from '../../../machines/parts/plan.ts';
import { planRunbook } from '../../../machines/plan-runbook.ts';
import { groupsOf } from '../../plans/facts.ts';
import type { Report } from '../../report/model/model.ts';
import { buildPlanReport } from '../../report/plan/build-plan-report.ts';
import type { WordedGroup } from '../../report/plan/plan-lanes.ts';
import type { PlanReport } from '../../report/plan/plan-report.ts';
import { inputOf } from '../../runner/run-log.ts';
import type { JournalReader, Log } from '../../store/journal.ts';
import { lossesOf } from '../../store/log/log-entries.ts';
import { childrenOf } from '../../store/projections/plan-children.ts';
import type { RunSummary } from '../../store/projections/run-summary.ts';
import { reportOf } from '../run/run-report.ts';
import { stepInWords } from './step-words.ts';

/** The record of a plan's run, and those of everything that it started, by run. */
export interface PlanReports {
  readonly plan: PlanReport;
  readonly children: ReadonlyMap<string, Report>;
}

type Reader = Pick<JournalReader, 'read' | 'rows'> & { readonly log: Pick<Log, 'head'> };

export function isPlanRun({ runbook }: Pick<RunSummary, 'runbook'>): boolean {
  return runbook === planRunbook.id;
}

/**
 * `known`: reports made already. Undefined without a plan on record, as an older version may have written.
 */
export async function planReportOf(
  journal: Reader,
  { runId }: Pick<RunSummary, 'runId'>,
  known: ReadonlyMap<string, Report> = new Map(),
): Promise<PlanReports | undefined> {
  const entries = await journal.read(`run/${runId}`);
  const input = inputOf(entries) as unknown as Partial<PlanInput> | undefined;
  if (input?.plan === undefined || input.groups === undefined) return undefined;
  const rows = await childrenOf(journal, runId);
  const children = new Map<string, Report>();
  for (const row of rows) {
    const summary = await summaryOf(journal, row.runId);
    if (summary === undefined) continue;
    children.set(row.runId, known.get(row.runId) ?? (await reportOf(journal, summary)));
  }
  const { note } = await journal.log.head();
  const plan = buildPlanReport({
    generatedAt: new Date(),
    entries,
    wishes: await journal.read(`plan/${runId}`),
    input: input as PlanInput,
    groups: wordedGroups(input as PlanInput),
    children: rows.flatMap((row) => {
      const report = children.get(row.runId);
      return report === undefined ? [] : [{ ...row, report }];
    }),
    losses: await lossesOf(journal),
    ...(note === undefined ? {} : { note }),
  });
  return { plan, children };
}

async function summaryOf(
  journal: Pick<JournalReader, 'read'>,
  runId: string,
): Promise<Parameters<typeof reportOf>[1] | undefined> {
  const [started] = await journal.read(`run/${runId}`);
  const body = started?.body as Partial<Parameters<typeof reportOf>[1]> | undefined;
  const { runbook, version, instance, target } = body ?? {};
  if (runbook === undefined || version === undefined || instance === undefined) return undefined;
  return { runId, runbook, version, instance, target };
}

/** The groups of all phases, each with its steps in words. */
export function wordedGroups(input: PlanInput): readonly WordedGroup[] {
  return (['groups', 'healthy', 'finally'] as const).flatMap((phase) =>
    groupsOf({ input } as never, phase).map((group) => ({
      phase,
      group,
      words: Object.fromEntries(group.steps.map((step) => [step.id, stepInWords(step)])),
    })),
  );
}
