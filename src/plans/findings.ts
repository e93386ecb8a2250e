import { isoOf } from '../base/date.ts';
import { show } from '../base/text.ts';
import type { Evaluated, EvaluationMade, Finding, Shape } from '../store/projections/evaluations.ts';
import { type InstanceFacts, knownOf } from '../view/fleet/fleet-facts.ts';
import { SHAPE_LIMIT } from './checks.ts';
import type { Check, Evaluation, PlanCheck, PlanEvaluation } from './evaluation-schema.ts';

const DAY_MS = 24 * 60 * 60_000;

/**
 * One for each check that is not green. An open finding keeps when it was first seen and when it is due: one
 * period of its check later, at least a day. `owner` is for findings without another. Pure.
 */
export function findingsOf(
  { checks }: { readonly checks: readonly (Check | PlanCheck)[] },
  before: Pick<Evaluated, 'findings'> | undefined,
  now: Date,
  owner?: string,
): readonly Finding[] {
  return checks.flatMap((check) => findingOf(check, before, now, owner));
}

function findingOf(
  { id, state, reason, periodSeconds = 0, waiver }: (Check | PlanCheck) & Pick<Check, 'waiver'>,
  before: Pick<Evaluated, 'findings'> | undefined,
  now: Date,
  owner: string | undefined,
): readonly Finding[] {
  if (state !== 'red' && state !== 'unknown') return [];
  const open = before?.findings.find(({ check }) => check === id);
  const due = isoOf(now.getTime() + Math.max(DAY_MS, periodSeconds * 1000));
  const who = waiver?.owner ?? owner;
  return [
    {
      ...{ check: id, state, reason },
      ...(who === undefined ? {} : { owner: who }),
      ...{ firstSeen: open?.firstSeen ?? now.toISOString(), due: open?.due ?? due },
      ...(waiver === undefined ? {} : { waivedUntil: waiver.until }),
    },
  ];
}

/** Undefined if the record already has the same verdict, findings, plan and service. Pure. */
export function toRecord(
  evaluation: Pick<Evaluation | PlanEvaluation, 'verdict' | 'reason'>,
  findings: readonly Finding[],
  { overview }: Pick<InstanceFacts, 'overview'>,
  before: Evaluated | undefined,
): EvaluationMade | undefined {
  const { verdict, reason } = evaluation;
  const shape = shapeOf(overview);
  const isSame =
    before?.verdict === verdict &&
    keysOf(before.findings) === keysOf(findings) &&
    (['plan', 'service'] as const).every(
      (name) => shape[name] === undefined || shape[name] === before.shape?.[name],
    );
  if (isSame) return undefined;
  const made = { verdict, reason, findings: [...findings] };
  return Object.keys(shape).length === 0 ? made : { ...made, shape };
}

/** Without reasons: they name ages, which change all the time. */
function keysOf(findings: readonly Finding[]): string {
  return JSON.stringify(
    findings.map(({ check, state, owner, waivedUntil }) => [check, state, owner, waivedUntil]),
  );
}

function shapeOf(overview: InstanceFacts['overview']): Shape {
  const { plan, service } = knownOf(overview) ?? {};
  return {
    ...(plan === undefined ? {} : { plan: show(plan, SHAPE_LIMIT) }),
    ...(service === undefined ? {} : { service: show(service, SHAPE_LIMIT) }),
  };
}
