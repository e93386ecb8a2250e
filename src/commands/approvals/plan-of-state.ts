import type { Runbook } from '../../../machines/parts/runbook.ts';
import { mainPathOf, statePath } from '../../../machines/parts/states.ts';
import { begunOf } from '../../approvals/begun.ts';
import type { Plan } from '../../approvals/challenge.ts';
import { asksFor } from '../../approvals/policy.ts';
import { isAskedOnRecord } from '../../approvals/request-state.ts';
import type { DrivenRun } from '../../compose/instances.ts';
import type { LoadedConfig } from '../../config/loaded.ts';
import { questionOf } from '../../runner/answer.ts';
import type { RunState } from '../../runner/run.ts';
import { plannedSteps } from '../../view/dry-run-view.ts';
import { viewFact } from '../../view/view-outcome.ts';
import { needsApproval, riskOf } from './required.ts';

/**
 * What a second person has to approve in a state of a run; undefined if no approval is needed. The record
 * decides: what needed approval when the run began, and what was requested once, needs it until the run ends,
 * even if the config now asks for less. Pure.
 */
export function planOfState(
  config: LoadedConfig,
  runbook: Runbook,
  run: DrivenRun,
): (state: RunState) => Plan | undefined {
  const known = new WeakMap<RunState['snapshot'], Planned>();
  return (state) => {
    const found = known.get(state.snapshot) ?? planned(config, runbook, run, state);
    known.set(state.snapshot, found);
    const { plan, isAsked } = found;
    return plan !== undefined && (isAsked || isAskedOnRecord(state.entries, plan)) ? plan : undefined;
  };
}

/** A plan, and whether the config asks for its approval, or did when the run began. */
interface Planned {
  readonly plan?: Plan;
  readonly isAsked?: boolean;
}

function planned(
  config: LoadedConfig,
  runbook: Runbook,
  { instance, target }: DrivenRun,
  { snapshot, entries, runId }: RunState,
): Planned {
  const question = questionOf(snapshot);
  if (question?.kind !== 'typed-name') return {};
  const state = statePath(snapshot);
  const context = snapshot.context as never;
  const path = mainPathOf(runbook.machine, context);
  const risk = riskOf(runbook, path, state);
  if (risk === undefined) return {};
  const { mode = 'LIVE' } = (entries[0]?.body ?? {}) as { readonly mode?: string };
  const at = path.indexOf(state);
  const plan: Plan = {
    run: runId,
    runbook: runbook.id,
    version: runbook.version,
    mode,
    state,
    prompt: question.prompt,
    order: question.order,
    instance,
    target: question.expected,
    url: config.instances[question.expected]?.url ?? '-',
    event: question.event,
    facts: runbook.facts(context).map((fact) => {
      const { label, value } = viewFact(fact);
      return `${label}: ${value}`;
    }),
    overrides: runbook.skipped(context).map(({ step, reason }) => `${step}: ${reason}`),
    calls: plannedSteps(runbook, { instance, target }, path.slice(at + 1)).flatMap(({ calls, does }) => [
      ...calls
        .filter(({ changes }) => changes)
        .map(({ method, path: below, on, what }) => `${method} ${below} on ${on}: ${what}`),
      ...does,
    ]),
  };
  const { required = {} } = begunOf(entries).approvals ?? {};
  const isAsked = needsApproval(config, plan.target, risk) || asksFor(required[plan.target], risk);
  return { plan, isAsked };
}
