import type { AnyMachineSnapshot } from 'xstate';
import { runbookOf } from '../../../machines/index.ts';
import type { Approve, Step } from '../../../machines/parts/plan.ts';
import type { ApprovalTerms } from '../../approvals/terms.ts';
import { counted } from '../../base/format.ts';
import { questionOf } from '../../runner/answer.ts';
import { fold } from '../../runner/fold.ts';
import { inputOf } from '../../runner/run-log.ts';
import { type Entry, fieldsOf, type JournalReader } from '../../store/journal.ts';
import { type ChildRow, childrenOf } from '../../store/projections/plan-children.ts';
import { readRunEntry } from '../../store/run-entries.ts';

/** What stands around a run that is a step of a plan, or a plan itself. */
export interface AroundOfPlan {
  /** Every name on record of the person who started the plan; empty outside of plans. */
  readonly starter: readonly string[];
  /** What came of the groups that the step shows to those who approve, one line each. */
  readonly shown: readonly string[];
}

/** Reads from the record what an approval in this run depends on besides the run. */
export async function aroundOfPlan(
  journal: Pick<JournalReader, 'read' | 'rows'>,
  runId: string,
): Promise<AroundOfPlan> {
  const [started] = await journal.read(`run/${runId}`);
  const read = started === undefined ? undefined : readRunEntry(started);
  if (started === undefined || read?.type !== 'run.started') return { starter: [], shown: [] };
  const { plan, runbook, input } = read.body;
  if (plan === undefined) return { starter: runbook === 'plan' ? namesIn(started) : [], shown: [] };
  const ofPlan = await journal.read(`run/${plan.run}`);
  const { step } = fieldsOf(input) as { readonly step?: Step };
  const groups = step?.kind === 'approve' ? (step.approve.shows ?? []) : [];
  const children = groups.length === 0 ? [] : await childrenOf(journal, plan.run);
  const passed = groups.length === 0 ? [] : passedIn(ofPlan);
  const shown = groups.flatMap((group) => [
    resultOf(group, children),
    ...passed
      .filter(({ step }) => step.startsWith(`${group}/`))
      .map(({ step, reason }) => `passed by a person: ${step}: ${reason}`),
  ]);
  return { starter: ofPlan.slice(0, 1).flatMap(namesIn), shown };
}

/**
 * What a plan asks of the approval that a run waits for; undefined if it waits for none, or the config asks
 * for it. Pure.
 */
export function termsAt(
  snapshot: AnyMachineSnapshot,
  { starter }: Pick<AroundOfPlan, 'starter'>,
): ApprovalTerms | undefined {
  const question = questionOf(snapshot);
  if (question?.kind !== 'typed-name' || question.byOthers === undefined) return undefined;
  const { terms, given } = question.byOthers;
  const { of, within, onExpiry, notBy }: Approve = terms;
  return { of, within, onExpiry, starter: notBy === 'starter' ? starter : [], given };
}

/** The same, of a run as its entries say; for a process that does not drive it. */
export async function termsOnRecord(
  journal: Pick<JournalReader, 'read' | 'rows'>,
  entries: readonly Entry[],
): Promise<ApprovalTerms | undefined> {
  const [started] = entries;
  const { runbook, version } = fieldsOf(started?.body);
  if (started === undefined || !isOfPlan(runbook)) return undefined;
  const found = runbookOf(String(runbook), String(version));
  if (found === undefined) return undefined;
  const { snapshot } = fold(found, inputOf(entries) ?? {}, entries);
  return termsAt(snapshot, await aroundOfPlan(journal, started.stream.slice('run/'.length)));
}

/** Whether a run is that of a plan or of a step of one, so that its approvals are those that the plan asks for. */
export function isOfPlan(runbook: unknown): boolean {
  return runbook === 'plan' || runbook === 'plan-step';
}

function namesIn(started: Entry): readonly string[] {
  const read = readRunEntry(started);
  if (read?.type !== 'run.started') return [started.by];
  const { operator, who } = read.body;
  const names = [started.by, operator, who?.name, who?.email, who?.login];
  return [...new Set(names.filter((name) => name !== undefined))];
}

/** `result of data: 5 steps done, 1 failed: orders recover (it was stopped)`. The last attempt counts. */
function resultOf(group: string, children: readonly ChildRow[]): string {
  const latest = new Map<string, ChildRow>();
  for (const child of children)
    if (child.group === group) latest.set(`${child.lane} ${child.step}`, newer(latest, child));
  const of = (result: ChildRow['result']) => [...latest].filter(([, child]) => child.result === result);
  const [failed, open] = [of('failed'), of(undefined)];
  const named = failed.map(([name, { where }]) => (where === undefined ? name : `${name} (${where})`));
  return [
    `result of ${group}: ${counted(of('done').length, 'step')} done`,
    ...(open.length === 0 ? [] : [`${open.length} not over`]),
    ...(failed.length === 0 ? [] : [`${failed.length} failed: ${named.join(', ')}`]),
  ].join(', ');
}

function newer(latest: ReadonlyMap<string, ChildRow>, child: ChildRow): ChildRow {
  const before = latest.get(`${child.lane} ${child.step}`);
  return before !== undefined && before.attempt > child.attempt ? before : child;
}

/** What people decided against the plan. */
function passedIn(entries: readonly Entry[]): readonly { readonly step: string; readonly reason: string }[] {
  const { runbook, version } = fieldsOf(entries[0]?.body);
  const found = runbookOf(String(runbook), String(version));
  if (found === undefined) return [];
  const { snapshot } = fold(found, inputOf(entries) ?? {}, entries);
  return found.skipped(snapshot.context as never);
}
