import type { PlanInput, ResolvedGroup } from '../../../machines/parts/plan.ts';
import { readApprovers } from '../../approvals/approvers.ts';
import { failureOf, LifeboatError } from '../../base/errors.ts';
import { show } from '../../base/text.ts';
import { openJournalIfAny, type StoreContext } from '../../compose/store-of.ts';
import type { LoadedConfig } from '../../config/loaded.ts';
import type { EvaluatedInstances } from '../../plans/evaluate.ts';
import type { PlanEvaluation } from '../../plans/evaluation-schema.ts';
import { forecastOf } from '../../plans/forecast.ts';
import { evaluatePlan, instancesOf, type PlanKnown } from '../../plans/plan-evaluation.ts';
import { assertFits, type ReadPlan } from '../../plans/plan-file.ts';
import { rehearsalMisfits, resolvePlan } from '../../plans/resolve.ts';
import type { JournalReader } from '../../store/journal.ts';
import { readSigned } from '../../store/projections/signers.ts';
import { planNamed, planNames, surroundingsOf } from './plan-files.ts';
import { planDigest, readHistories } from './plan-history.ts';

export interface FoundPlan {
  readonly name: string;
  readonly found: FoundGroups | { readonly problem: string };
}

interface FoundGroups extends ReadPlan {
  readonly groups: readonly ResolvedGroup[];
}

/** Reads a plan by its name. Never rejects for what is in the file: that is its evaluation. */
export async function findPlan(config: LoadedConfig, name: string): Promise<FoundPlan> {
  try {
    const read = await planNamed(config, name);
    const { groups, misfits } = resolvePlan(read.plan, surroundingsOf(config));
    assertFits(read, misfits);
    return { name: read.plan.plan, found: { ...read, groups } };
  } catch (thrown) {
    if (!(thrown instanceof LifeboatError) || thrown.code === 'plan.missing') throw thrown;
    return { name, found: { problem: `${show(thrown.shortMessage, 300)}: lifeboat plans check ${name}` } };
  }
}

/** The targets of all plan files that can be read. */
export async function targetsOfPlans(config: LoadedConfig): Promise<ReadonlySet<string>> {
  const plans = await Promise.all(planNames(config).map((name) => findPlan(config, name)));
  return new Set(plans.flatMap(targetsOf));
}

/** Each instance that a lane of a plan is recovered into. */
export function targetsOf({ found }: FoundPlan): readonly string[] {
  if ('problem' in found) return [];
  return found.groups.flatMap(({ lanes }) => lanes.flatMap(({ target }) => target ?? []));
}

/** The instances that the evaluation of a plan asks: those of its groups, and their targets. */
export function askedBy(plan: FoundPlan): readonly string[] {
  if ('problem' in plan.found) return [];
  return [...new Set([...instancesOf(plan.found.groups), ...targetsOf(plan)])];
}

/** Evaluates every plan file by what was asked of the instances. Sends nothing. */
export async function evaluateAllPlans(
  context: StoreContext,
  config: LoadedConfig,
  evaluated: EvaluatedInstances,
): Promise<readonly PlanEvaluation[]> {
  const journal = await openJournalIfAny(context);
  try {
    const plans = await Promise.all(planNames(config).map((name) => findPlan(config, name)));
    return await evaluatePlans(config, journal, plans, evaluated);
  } finally {
    await journal?.close();
  }
}

/** Evaluates plans whose instances were asked. Sends nothing. */
export async function evaluatePlans(
  config: LoadedConfig,
  journal: JournalReader | undefined,
  plans: readonly FoundPlan[],
  evaluated: EvaluatedInstances,
): Promise<readonly PlanEvaluation[]> {
  const now = new Date();
  const approvers = await approversOf(config, journal, now);
  const historyOf = await readHistories(journal);
  const starter = [config.operator.name, config.operator.email].filter((name) => name !== undefined);
  const { notified } = surroundingsOf(config);
  const evaluations: PlanEvaluation[] = [];
  for (const { name, found } of plans) {
    const base = { name, evaluated, approvers, starter, notified };
    if ('problem' in found) evaluations.push(evaluatePlan({ ...base, file: found }, now));
    else {
      const { lastProven, timeOf } = await historyOf(name);
      const { plan, groups, text, sha256 } = found;
      const input: PlanInput = { plan, groups, text, sha256, rehearsal: false, source: 'up' };
      const { groups: _, ...rest } = plan;
      const file = { plan: rest, groups, ...derivedOf(config, found), forecast: forecastOf(input, timeOf) };
      evaluations.push(evaluatePlan({ ...base, file, lastProven }, now));
    }
  }
  return evaluations;
}

interface Derived {
  readonly digests: { readonly LIVE: string; readonly REHEARSAL: string };
  readonly unrehearsable: string | undefined;
}

/** A screen evaluates every minute, and a plan of ten thousand is a text of megabytes to digest. */
const derived = new WeakMap<LoadedConfig, Map<string, Derived>>();

/** What follows from a plan file and the config alone. */
function derivedOf(config: LoadedConfig, { plan, groups, sha256 }: FoundGroups): Derived {
  const known = derived.get(config) ?? new Map<string, Derived>();
  derived.set(config, known);
  const before = known.get(sha256);
  if (before !== undefined) return before;
  const { groups: _, ...rest } = plan;
  const digestOf = (resolved: typeof groups) => planDigest({ plan: rest, groups: resolved });
  const made = {
    digests: {
      LIVE: digestOf(groups),
      REHEARSAL: digestOf(resolvePlan(plan, surroundingsOf(config), { rehearsal: true }).groups),
    },
    unrehearsable: rehearsalMisfits(plan, surroundingsOf(config))[0]?.message,
  };
  known.set(sha256, made);
  return made;
}

async function approversOf(
  { approvals }: Pick<LoadedConfig, 'approvals'>,
  journal: JournalReader | undefined,
  now: Date,
): Promise<PlanKnown['approvers']> {
  if (approvals === undefined) return { problem: 'lifeboat.yaml names no allowed signers (`approvals`)' };
  try {
    return await readApprovers(approvals, journal === undefined ? [] : await readSigned(journal), now);
  } catch (thrown) {
    return { problem: show(failureOf(thrown).shortMessage, 300) };
  }
}
