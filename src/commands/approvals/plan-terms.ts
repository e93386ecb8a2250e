import type { AnyMachineSnapshot } from 'xstate';
import type { Approve, Step } from '../../../machines/parts/plan.ts';
import type { ApprovalTerms } from '../../approvals/terms.ts';
import { counted } from '../../base/format.ts';
import { questionOf } from '../../runner/answer.ts';
import { fold } from '../../runner/fold.ts';
import { inputOf } from '../../runner/run-log.ts';
import { type Entry, fieldsOf, type JournalReader } from '../../store/journal.ts';
import { type ChildRow, childrenOf } from '../../store/projections/plan-children.ts';
import { readRunEntry } from '../../store/run-entries.ts';

export interface AroundOfPlan {
  /** Every name on record of the person who started the plan; empty outside of plans. */
  readonly starter: readonly string[];
  /** Lines of the file of allowed signers when the plan was started, by hash; undefined if unknown. */
  readonly listed?: readonly string[] | undefined;
  /** Results of the groups that the step shows to approvers, one line each. */
  readonly shown: readonly string[];
}

/** Reads from the record what an approval in this run depends on besides the run. */
export async function aroundOfPlan(
  journal: Pick<JournalReader, 'read' | 'rows'>,
  { runId, runbook }: { readonly runId: string; readonly runbook: unknown },
): Promise<AroundOfPlan> {
  const own = isOfPlan(runbook) ? await journal.read(`run/${runId}`) : [];
  const begun = startOf(own);
  const planRun = begun?.plan?.run;
  if (planRun === undefined) return { ...startedBy(own), shown: [] };
  const ofPlan = await journal.read(`run/${planRun}`);
  const { step } = fieldsOf(begun?.input) as { readonly step?: Step };
  const groups = step?.kind === 'approve' ? (step.approve.shows ?? []) : [];
  if (groups.length === 0) return { ...startedBy(ofPlan), shown: [] };
  const [children, passed] = [await childrenOf(journal, planRun), await passedIn(ofPlan)];
  const shown = groups.flatMap((group) => [
    resultOf(group, children),
    ...passed
      .filter(({ step: place }) => place.startsWith(`${group}/`))
      .map(({ step: place, reason }) => `decided by a person: ${place}: ${reason}`),
  ]);
  return { ...startedBy(ofPlan), shown };
}

/** What a plan asks of the awaited approval; undefined for none, or one of the config. Pure. */
export function termsAt(
  snapshot: AnyMachineSnapshot,
  { starter, listed }: Pick<AroundOfPlan, 'starter' | 'listed'>,
): ApprovalTerms | undefined {
  const question = questionOf(snapshot);
  if (question?.kind !== 'typed-name' || question.byOthers === undefined) return undefined;
  const { terms, given } = question.byOthers;
  const { of, within, onExpiry, notBy }: Approve = terms;
  return { of, within, onExpiry, starter: notBy === 'starter' ? starter : [], listed, given };
}

/** The same, of a run as its entries say; for a process that does not drive it. */
export async function termsOnRecord(
  journal: Pick<JournalReader, 'read' | 'rows'>,
  entries: readonly Entry[],
): Promise<ApprovalTerms | undefined> {
  const [started] = entries;
  const { runbook } = fieldsOf(started?.body);
  if (started === undefined || !isOfPlan(runbook)) return undefined;
  const folded = await foldOf(entries);
  if (folded === undefined) return undefined;
  const runId = started.stream.slice('run/'.length);
  return termsAt(folded.snapshot, await aroundOfPlan(journal, { runId, runbook }));
}

export function isOfPlan(runbook: unknown): boolean {
  return runbook === 'plan' || runbook === 'plan-step';
}

function startOf([started]: readonly Entry[]) {
  const read = started === undefined ? undefined : readRunEntry(started);
  return read?.type === 'run.started' ? read.body : undefined;
}

function startedBy(entries: readonly Entry[]): Pick<AroundOfPlan, 'starter' | 'listed'> {
  const begun = startOf(entries);
  const names = [entries[0]?.by, begun?.operator, begun?.who?.name, begun?.who?.email, begun?.who?.login];
  const starter = [...new Set(names.filter((name) => name !== undefined))];
  return { starter, listed: begun?.approvals?.signers?.lines };
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
async function passedIn(
  entries: readonly Entry[],
): Promise<readonly { readonly step: string; readonly reason: string }[]> {
  const folded = await foldOf(entries);
  return folded?.found.skipped(folded.snapshot.context as never) ?? [];
}

/** Undefined for a version of a runbook that this program does not have. */
async function foldOf(entries: readonly Entry[]) {
  const { runbook, version } = fieldsOf(entries[0]?.body);
  // Only the runs of plans need the machines, which take a while to load.
  const { runbookOf } = await import('../../../machines/index.ts');
  const found = runbookOf(String(runbook), String(version));
  return found && { found, ...fold(found, inputOf(entries) ?? {}, entries) };
}
