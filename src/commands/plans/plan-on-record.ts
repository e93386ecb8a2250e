import { runbookOf } from '../../../machines/index.ts';
import type { PlanInput } from '../../../machines/parts/plan.ts';
import type { PlanContext } from '../../../machines/plan.ts';
import { msOf } from '../../base/instant.ts';
import { planFacts } from '../../plans/facts.ts';
import { isStopped } from '../../plans/standing.ts';
import { questionOf } from '../../runner/answer.ts';
import { foldGrowing } from '../../runner/fold.ts';
import { inputOf } from '../../runner/run-log.ts';
import { workersOf } from '../../runner/wakes.ts';
import type { JournalReader } from '../../store/journal.ts';
import { childrenOf } from '../../store/projections/plan-children.ts';
import type { RunSummary } from '../../store/projections/run-summary.ts';
import type { PlanFold } from '../../view/plan/build-plan-view.ts';
import { outcomeOf, titleOf } from './plan-port.ts';
import { recordedChildren } from './recorded-children.ts';

/**
 * By the record alone, for screen and page. Undefined for an unknown version of plans, and without a plan on
 * record, as an older version may have written. Folds only new entries if the record gives the same growing
 * array for a stream. Rejects with `run.diverged`.
 */
export async function planFoldOnRecord(
  journal: Pick<JournalReader, 'read' | 'rows'>,
  { runId, runbook: id, version }: Pick<RunSummary, 'runId' | 'runbook' | 'version'>,
  nowMs: number,
): Promise<PlanFold | undefined> {
  const entries = await journal.read(`run/${runId}`);
  const input = inputOf(entries) as unknown as Partial<PlanInput> | undefined;
  const runbook = runbookOf(id, version);
  if (runbook === undefined || input?.plan === undefined || input.groups === undefined) return undefined;
  const { snapshot } = foldGrowing(runbook, entries);
  const context = snapshot.context as PlanContext;
  const states = planFacts(snapshot, [], nowMs)?.records;
  const children = await recordedChildren(journal, await childrenOf(journal, runId), {
    context,
    isStopped: (group) => isStopped(context.groups[group], states?.[group]?.state),
    areForWorkers: workersOf(entries) !== undefined,
  });
  return {
    ...{ runId, snapshot, children, nowMs },
    title: titleOf(snapshot),
    question: questionOf(snapshot),
    startedMs: msOf(context.input.incidentAt ?? entries[0]?.at),
    outcome: outcomeOf(entries),
    // The reader is rarely the person whom it waits for.
    whom: 'a person',
  };
}
