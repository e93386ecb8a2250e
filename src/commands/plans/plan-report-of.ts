import type { PlanInput } from '../../../machines/parts/plan.ts';
import { planRunbook } from '../../../machines/plan-runbook.ts';
import { groupsOf } from '../../plans/facts.ts';
import type { Report } from '../../report/model/model.ts';
import { buildPlanReport } from '../../report/plan/build-plan-report.ts';
import { childReport } from '../../report/plan/child-report.ts';
import type { ReportedChild, WordedGroup } from '../../report/plan/plan-lanes.ts';
import type { PlanReport } from '../../report/plan/plan-report.ts';
import { inputOf } from '../../runner/run-log.ts';
import type { Entry, JournalReader, Log } from '../../store/journal.ts';
import { eachChild } from '../../store/projections/plan-children.ts';
import type { RunSummary } from '../../store/projections/run-summary.ts';
import { groundOf, reportOfEntries } from '../run/run-report.ts';
import { stepInWords } from './step-words.ts';

/** The record of a plan's run, and the runs that it started, which have reports of their own. */
export interface PlanReports {
  readonly plan: PlanReport;
  readonly children: ReadonlySet<string>;
}

/** Takes the report and the entries of a run that the plan started; nothing else keeps them. */
export type TakeChild = (runId: string, report: Report, entries: readonly Entry[]) => void;

export function isPlanRun({ runbook }: Pick<RunSummary, 'runbook'>): boolean {
  return runbook === planRunbook.id;
}

type Reader = Pick<JournalReader, 'read' | 'rows'> & { readonly log: Pick<Log, 'head'> };

/**
 * Undefined without a plan on record, as an older version may have written. One run after another is read,
 * and handed to `take`.
 */
export async function planReportOf(
  journal: Reader,
  { runId }: Pick<RunSummary, 'runId'>,
  take: TakeChild = () => undefined,
): Promise<PlanReports | undefined> {
  const entries = await journal.read(`run/${runId}`);
  const input = inputOf(entries) as unknown as Partial<PlanInput> | undefined;
  if (input?.plan === undefined || input.groups === undefined) return undefined;
  const ground = await groundOf(journal);
  const children: ReportedChild[] = [];
  for await (const row of eachChild(journal, runId)) {
    const own = await journal.read(`run/${row.runId}`);
    const summary = summaryOf(row.runId, own);
    if (summary === undefined) continue;
    const report = await reportOfEntries(journal, summary, { entries: own, ground });
    take(row.runId, report, own);
    children.push({ ...row, report: childReport(report) });
  }
  const { note, losses } = ground;
  const plan = buildPlanReport({
    generatedAt: new Date(),
    entries,
    wishes: await journal.read(`plan/${runId}`),
    input: input as PlanInput,
    groups: wordedGroups(input as PlanInput),
    children,
    losses,
    ...(note === undefined ? {} : { note }),
  });
  return { plan, children: new Set(children.map((child) => child.runId)) };
}

function summaryOf(
  runId: string,
  [started]: readonly Entry[],
): Parameters<typeof reportOfEntries>[1] | undefined {
  const body = started?.body as Partial<Parameters<typeof reportOfEntries>[1]> | undefined;
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
