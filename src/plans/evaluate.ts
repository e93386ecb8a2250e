import { CHECK_IDS, type CheckId } from '../base/check-id.ts';
import { isoOf } from '../base/date.ts';
import { counted, formatSpan } from '../base/format.ts';
import { msOf } from '../base/instant.ts';
import { type InstanceFacts, knownOf } from '../view/fleet/fleet-facts.ts';
import { ASK, type Found, holdsNothing, type TargetFacts, targetFactsOf } from './checks.ts';
import type { Check, Evaluation, InstanceVerdict, Waiver } from './evaluation-schema.ts';
import { DRILL_SHARE, ESCROW_SHARE, MISSED_EVALUATIONS, PERIODS, type Period } from './periods.ts';

/**
 * At a moment, with every check. A check that was not asked within its period, or lacks a fact, is never
 * green. Without new facts a later moment gives no better verdict. Pure.
 */
export function evaluate(facts: InstanceFacts, now: Date): Evaluation {
  const nowMs = now.getTime();
  const checks = CHECK_IDS.map((id) => checkOf(id, facts, nowMs));
  const { verdict, reason } = verdictOf(checks, holdsNothing(facts));
  const recorded = knownOf(facts.record)?.evaluated;
  return {
    verdict,
    ...(recorded?.verdict === verdict ? { since: recorded.since } : {}),
    reason,
    checks,
  };
}

/** All that the evaluation of a plan needs. */
export interface EvaluatedInstance extends Pick<Evaluation, 'verdict' | 'reason'>, TargetFacts {}

/** By instance. */
export type EvaluatedInstances = Pick<ReadonlyMap<string, EvaluatedInstance>, 'get'>;

export function keptForPlans(
  facts: InstanceFacts,
  { verdict, reason }: Pick<Evaluation, 'verdict' | 'reason'>,
): EvaluatedInstance {
  return { ...targetFactsOf(facts), verdict, reason };
}

/** These do not count in the verdict; `restored` only tells PROVEN from READY. */
const BESIDE: ReadonlySet<CheckId> = new Set(['restored', 'waivers', 'evaluated']);

/** Keeps an instance from being ready, and is not waived. */
export function countsAgainst({ id, state, waiver }: Pick<Check, 'id' | 'state' | 'waiver'>): boolean {
  return (state === 'red' || state === 'unknown') && waiver === undefined && !BESIDE.has(id);
}

function verdictOf(
  checks: readonly Check[],
  isEmpty: boolean,
): { readonly verdict: InstanceVerdict; readonly reason: string } {
  const against = checks.filter(countsAgainst);
  const red = against.find(({ state }) => state === 'red');
  if (red !== undefined) return { verdict: 'not-ready', reason: red.reason };
  const [unknown] = against;
  if (unknown !== undefined) return { verdict: 'unknown', reason: unknown.reason };
  if (isEmpty) return { verdict: 'empty', reason: 'a target that holds nothing of its own' };
  const restored = checks.find(({ id }) => id === 'restored');
  return {
    verdict: restored?.state === 'green' ? 'proven' : 'ready',
    reason: restored?.reason ?? '',
  };
}

function checkOf(id: CheckId, facts: InstanceFacts, nowMs: number): Check {
  const answer = answerAt(ASK[id](facts, nowMs), periodOf(id, facts), nowMs);
  const { state } = answer;
  const waiver = state === 'green' || state === 'not-applicable' ? undefined : waiverOf(id, facts, nowMs);
  return { id, ...answer, ...(waiver === undefined ? {} : { waiver }) };
}

/** With its age and period. Pure. */
export function answerAt(
  found: Found,
  period: Period | undefined,
  nowMs: number,
): Omit<Check, 'id' | 'waiver'> {
  const { state, code, reason, askedAt } = aged(found, period, nowMs);
  return {
    ...{ state, code, reason },
    ...(askedAt === undefined || Number.isNaN(askedAt)
      ? {}
      : { askedAt: isoOf(askedAt), ageSeconds: Math.max(0, (nowMs - askedAt) / 1000) }),
    ...(period === undefined || state === 'not-applicable' ? {} : { periodSeconds: period.green / 1000 }),
  };
}

function periodOf(id: CheckId, { policy }: InstanceFacts): Period | undefined {
  const { drillEvery, escrow, evaluate: asked } = policy ?? {};
  if (id === 'restored' && drillEvery !== undefined)
    return { green: drillEvery, red: drillEvery * DRILL_SHARE };
  if (id === 'escrow' && escrow !== undefined)
    return { green: escrow.proof, red: escrow.proof * ESCROW_SHARE };
  if (id === 'evaluated' && asked !== undefined) {
    const missed = asked.every * MISSED_EVALUATIONS;
    return { green: missed, red: missed };
  }
  return PERIODS[id];
}

/** Only a green answer ages: a red one stays red until the check is asked again. */
function aged(found: Found, period: Period | undefined, nowMs: number): Found {
  const { state, reason, askedAt } = found;
  if (state !== 'green' || period === undefined) return found;
  if (askedAt === undefined || Number.isNaN(askedAt))
    return { ...found, state: 'unknown', code: 'answer.undated', reason: `${reason}, but nothing says when` };
  const ageMs = nowMs - askedAt;
  if (ageMs <= period.green) return found;
  const isRed = period.red !== undefined && ageMs >= period.red;
  return {
    ...found,
    state: isRed ? 'red' : 'unknown',
    code: 'answer.stale',
    reason: `${reason}; the last answer is ${ageWords(ageMs)} old`,
  };
}

/** In hours, or in days from three days on. */
function ageWords(ageMs: number): string {
  return ageMs < 3 * DAY_MS ? formatSpan(ageMs / 1000) : counted(Math.floor(ageMs / DAY_MS), 'day');
}

const DAY_MS = 24 * 60 * 60_000;

/** The one that ends last, if it is not over. */
function waiverOf(id: CheckId, { policy }: InstanceFacts, nowMs: number): Waiver | undefined {
  const [last] = (policy?.waivers ?? [])
    .filter(({ check, until }) => check === id && nowMs < msOf(until))
    .toSorted((one, other) => msOf(other.until) - msOf(one.until));
  if (last === undefined) return undefined;
  const { reason, until, owner } = last;
  return { reason, until, ...(owner === undefined ? {} : { owner }) };
}
