import { hash } from 'node:crypto';
import canonicalize from 'canonicalize';
import type { PlanInput } from '../../../machines/parts/plan.ts';
import { planRunbook } from '../../../machines/plan-runbook.ts';
import { msOf } from '../../base/instant.ts';
import { planSubject } from '../../base/plan-subject.ts';
import type { TimeOf } from '../../plans/forecast.ts';
import type { ProvenPlan } from '../../plans/plan-evaluation.ts';
import { inputOf } from '../../runner/run-log.ts';
import type { JournalReader } from '../../store/journal.ts';
import { childrenOf } from '../../store/projections/plan-children.ts';
import type { RunSummary } from '../../store/projections/run-summary.ts';
import { runs, summariesOf } from '../../store/projections/runs.ts';

export interface PlanHistory {
  readonly timeOf: TimeOf;
  readonly lastProven: ProvenPlan | undefined;
}

/** How many closed runs are looked at, the newest first. */
const LOOKED_AT = 5_000;

/**
 * By plan name; reads closed runs once. A runbook takes what nine of ten earlier proven runs took at most, if
 * any of the instance; other steps what the plan's newest proven run took.
 */
export async function readHistories(
  journal: Pick<JournalReader, 'rows' | 'read'> | undefined,
): Promise<(plan: string) => Promise<PlanHistory>> {
  const rows = await journal?.rows(runs.name, { group: 'closed', limit: LOOKED_AT, order: 'descending' });
  const proven = summariesOf(rows ?? []).filter((run) => run.proven);
  const ofRunbooks = ninths(
    proven.flatMap(({ runbook, instance, target, startedAt, lastAt }) => {
      const kind = kindOf(runbook, target !== undefined);
      const ms = msOf(lastAt) - msOf(startedAt);
      return [[kind, ms] as const, [`${kind}/${instance}`, ms] as const];
    }),
  );
  return async (plan) => {
    const of = proven.find(
      ({ runbook, instance }) => runbook === planRunbook.id && instance === planSubject(plan),
    );
    const lastProven = journal === undefined || of === undefined ? undefined : await pinnedBy(journal, of);
    const steps = journal === undefined || of === undefined ? [] : await childrenOf(journal, of.runId);
    const ofSteps = ninths(
      steps.flatMap(({ group, step, startedAt, endedAt }) =>
        endedAt === undefined ? [] : [[`${group}/${step}`, msOf(endedAt) - msOf(startedAt)] as const],
      ),
    );
    return {
      lastProven,
      timeOf: (step, { group, lane }) => {
        if (step.kind === 'wait') return step.wait;
        if (step.kind !== 'runbook') return ofSteps.get(`${group}/${step.id}`);
        const kind = kindOf(step.runbook, step.with.phase !== 'prepare');
        return ofRunbooks.get(`${kind}/${lane}`) ?? ofRunbooks.get(kind);
      },
    };
  };
}

async function pinnedBy(
  journal: Pick<JournalReader, 'read'>,
  { runId, mode, lastAt }: RunSummary,
): Promise<ProvenPlan | undefined> {
  const input = inputOf(await journal.read(`run/${runId}`)) as unknown as PlanInput | undefined;
  if (input === undefined) return undefined;
  return { runId, mode, at: lastAt, digest: planDigest(input) };
}

/**
 * What tells the steps of a plan, with their instances and targets, from any others; not its comments,
 * contacts and periods. A hash of canonical JSON, as what is on record has its keys in that order.
 */
export function planDigest({ plan, groups }: Pick<PlanInput, 'plan' | 'groups'>): string {
  return hash('sha256', canonicalize([groups, plan.healthy, plan.finally]) ?? '', 'hex');
}

/** To prepare a recovery takes no target and little time: it says nothing about performing one. */
function kindOf(runbook: string, performs: boolean): string {
  return runbook === 'disaster-recovery' && !performs ? `${runbook} prepare` : runbook;
}

/** What nine of ten times of each key are at most. */
function ninths(times: readonly (readonly [key: string, ms: number])[]): ReadonlyMap<string, number> {
  const byKey = Map.groupBy(times, ([key]) => key);
  return new Map(
    [...byKey].flatMap(([key, some]) => {
      const sorted = some.map(([, ms]) => ms).toSorted((one, other) => one - other);
      const ninth = sorted[Math.max(0, Math.ceil(sorted.length * 0.9) - 1)];
      return ninth === undefined ? [] : [[key, ninth] as const];
    }),
  );
}
