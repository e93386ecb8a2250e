import { describe, expect, test } from 'vitest';
import { evaluate } from '../../src/plans/evaluate.ts';
import { findingsOf, toRecord } from '../../src/plans/findings.ts';
import { drillMissedSince, evaluationMissed, isDrillMissed } from '../../src/plans/missed.ts';
import type { Entry } from '../../src/store/journal.ts';
import {
  type Evaluated,
  type EvaluationMade,
  evaluationEntry,
  evaluations,
} from '../../src/store/projections/evaluations.ts';
import type { FoldedRow } from '../../src/store/projections/projection.ts';
import type { InstanceFacts } from '../../src/view/fleet/fleet-facts.ts';
import { ago, DAY, failed, HOUR, instance, known, NOW, record, recovered } from './instance.ts';

const PROVEN = { record: known(record({ recovered: recovered(24) })) };
const LATE = { ...PROVEN, objectives: { rpo: HOUR } };

/** What would go on record of an instance, after what is on record. */
function made(given: Partial<InstanceFacts>, before?: Evaluated, now = NOW): EvaluationMade | undefined {
  const facts = instance(given);
  const evaluation = evaluate(facts, now);
  return toRecord(evaluation, findingsOf(evaluation, before, now, 'Ada'), facts, before);
}

/** The record after these evaluations, one an hour from `NOW` on. */
function recordOf(...bodies: readonly (EvaluationMade | undefined)[]): Evaluated | undefined {
  let row: FoldedRow | undefined;
  for (const [hour, body] of bodies.entries()) {
    if (body === undefined) continue;
    const entry = { ...evaluationEntry('orders', body), at: ago(-hour) } as Entry;
    row = evaluations.fold(row, entry, 'orders/');
  }
  return row?.value as unknown as Evaluated | undefined;
}

describe('an evaluation goes on record', () => {
  test('the first time, and then only when its verdict or its findings changed', () => {
    const first = made(PROVEN);
    expect(first).toMatchObject({ verdict: 'proven', findings: [] });
    expect(made(PROVEN, recordOf(first))).toBeUndefined();
    const late = made(LATE, recordOf(first));
    expect(late).toMatchObject({
      verdict: 'not-ready',
      findings: [{ check: 'newest-backup', state: 'red' }],
    });
    expect(made({ ...LATE, objectives: { rpo: HOUR / 2 } }, recordOf(first, late))).toBeUndefined();
  });

  test('with the time since when the verdict holds, over all entries that say so', () => {
    const ready = made({});
    const worse = made({ objectives: { rpo: HOUR } }, recordOf(ready));
    const more = made({ objectives: { rpo: HOUR }, held: failed }, recordOf(ready, worse));
    expect(more).toBeDefined();
    expect(recordOf(ready, worse, more)).toMatchObject({ verdict: 'not-ready', since: ago(-1), at: ago(-2) });
  });

  test('when its plan changed, which removes the proof by restore', () => {
    const of = (plan: string) => ({ ...PROVEN, overview: known({ state: 'available', plan }) });
    const small = made(of('small'));
    const before = { record: known(record({ recovered: recovered(24), evaluated: recordOf(small) })) };
    const large = made({ ...of('large'), ...before }, recordOf(small));
    expect(large).toMatchObject({ verdict: 'ready', shape: { plan: 'large' } });
    const evaluated = recordOf(small, large);
    expect(evaluated?.changedAt).toBe(ago(-1));
    expect(recordOf(small)?.changedAt).toBeUndefined();
    const facts = instance({ record: known(record({ recovered: recovered(24), evaluated })) });
    expect(evaluate(facts, NOW).verdict).toBe('ready');
  });
});

describe('a finding', () => {
  test('has an owner, a due date and the time when it was first seen, until the next green result', () => {
    const first = made(LATE);
    const [finding] = first?.findings ?? [];
    const due = new Date(NOW.getTime() + DAY).toISOString();
    expect(finding).toMatchObject({ owner: 'Ada', firstSeen: NOW.toISOString(), due });
    const later = new Date(NOW.getTime() + 20 * 60_000);
    const again = made({ ...LATE, held: failed }, recordOf(first), later);
    expect(again?.findings.map(({ check, firstSeen }) => [check, firstSeen])).toEqual([
      ['newest-backup', NOW.toISOString()],
      ['key-held', later.toISOString()],
    ]);
    const green = made(PROVEN, recordOf(first, again));
    expect(green?.findings).toEqual([]);
    expect(recordOf(first, again, green)?.closed).toMatchObject([
      { check: 'newest-backup', closedAt: ago(-2) },
      { check: 'key-held', closedAt: ago(-2) },
    ]);
  });

  test('of a waived check says until when, and belongs to the owner of the waiver', () => {
    const until = new Date(NOW.getTime() + DAY).toISOString();
    const waivers = [{ check: 'newest-backup', reason: 'moving', until, owner: 'dba' }] as const;
    expect(made({ ...LATE, policy: { waivers } })).toMatchObject({
      verdict: 'proven',
      findings: [{ check: 'newest-backup', owner: 'dba', waivedUntil: until }],
    });
  });
});

describe('something that did not happen', () => {
  test('is an evaluation after two of its periods, the longest missed first', () => {
    const last = { orders: ago(3), billing: ago(9), stock: ago(1) };
    expect(evaluationMissed(['orders', 'stock'], last, 2 * HOUR, NOW)).toBeUndefined();
    expect(evaluationMissed(['orders', 'billing', 'stock'], last, HOUR, NOW)).toEqual({
      instance: 'billing',
      since: ago(7),
    });
    expect(evaluationMissed(['orders', 'new'], last, HOUR, NOW)).toEqual({
      instance: 'new',
      since: undefined,
    });
  });

  test('is a drill after 1.25 of its period', () => {
    const drills = (days: number) => ({ lastProven: { at: ago(days * 24) }, everySeconds: 40 * 86_400 });
    expect(isDrillMissed(drills(49), NOW)).toBe(false);
    expect(isDrillMissed(drills(50), NOW)).toBe(true);
    expect(drillMissedSince({ everySeconds: 1 })).toBeUndefined();
  });
});
