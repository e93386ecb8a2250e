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
import { eachChild } from '../../store/projections/plan-children.ts';
import type { RunSummary } from '../../store/projections/run-summary.ts';
import { runs, summariesOf } from '../../store/projections/runs.ts';
import { eachRow } from '../../store/reading.ts';

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
  const times = new Times();
  const newest = new Map<string, RunSummary>();
  if (journal !== undefined) {
    const query = { group: 'closed', limit: LOOKED_AT, order: 'descending' } as const;
    for await (const row of eachRow(journal, runs.name, query)) {
      const [run] = summariesOf([row]);
      if (run?.proven !== true) continue;
      const { runbook, instance, target, startedAt, lastAt } = run;
      const kind = kindOf(runbook, target !== undefined);
      const ms = msOf(lastAt) - msOf(startedAt);
      times.add(kind, ms);
      times.add(`${kind}/${instance}`, ms);
      if (runbook === planRunbook.id && !newest.has(instance)) newest.set(instance, run);
    }
  }
  const ofRunbooks = times.ninths();
  return async (plan) => {
    const of = newest.get(planSubject(plan));
    const lastProven = journal === undefined || of === undefined ? undefined : await pinnedBy(journal, of);
    const ofSteps = await timesOfSteps(journal, of);
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

/** By group and step. */
async function timesOfSteps(
  journal: Pick<JournalReader, 'rows'> | undefined,
  of: Pick<RunSummary, 'runId'> | undefined,
): Promise<ReadonlyMap<string, number>> {
  const times = new Times();
  if (journal !== undefined && of !== undefined)
    for await (const { group, step, startedAt, endedAt } of eachChild(journal, of.runId))
      if (endedAt !== undefined) times.add(`${group}/${step}`, msOf(endedAt) - msOf(startedAt));
  return times.ninths();
}

class Times {
  readonly #byKey = new Map<string, number[]>();

  add(key: string, ms: number): void {
    const known = this.#byKey.get(key);
    if (known === undefined) this.#byKey.set(key, [ms]);
    else known.push(ms);
  }

  /** What nine of ten times of each key are at most. */
  ninths(): ReadonlyMap<string, number> {
    return new Map(
      [...this.#byKey].map(([key, some]) => {
        const sorted = some.toSorted((one, other) => one - other);
        return [key, sorted[Math.ceil(sorted.length * 0.9) - 1] ?? 0];
      }),
    );
  }
}
