import canonicalize from 'canonicalize';
import { describe, expect, test } from 'vitest';
import { PlanFile } from '../../machines/parts/plan.ts';
import type { Approver } from '../../src/approvals/approvers.ts';
import { planDigest } from '../../src/commands/plans/plan-history.ts';
import { evaluate, keptForPlans } from '../../src/plans/evaluate.ts';
import { evaluatePlan as evaluateKept, type PlanKnown } from '../../src/plans/plan-evaluation.ts';
import { resolvePlan } from '../../src/plans/resolve.ts';
import type { InstanceFacts } from '../../src/view/fleet/fleet-facts.ts';
import { ago, DAY, emptyTarget, failed, HOUR, instance, known, NOW, record, recovered } from './instance.ts';
import { surroundingsWith } from './surroundings.ts';

const RECOVER = { id: 'recover', runbook: 'disaster-recovery', undo: 'none; the source stays' };

type Known = Omit<PlanKnown, 'evaluated'> & { readonly facts: ReadonlyMap<string, InstanceFacts> };

function evaluatePlan({ facts, ...known }: Known, now: Date) {
  const kept = [...facts].map(([name, of]) => [name, keptForPlans(of, evaluate(of, now))] as const);
  return evaluateKept({ ...known, evaluated: new Map(kept) }, now);
}

/** A plan for db-1 and db-2, and everything about it green, but for what is given. */
function west(more: object = {}, given: Partial<Known> = {}): Known {
  const text = {
    plan: 'west',
    objectives: { rto: '2h' },
    groups: [{ id: 'data', for: { name: 'db-*', target: '{name}-dr' }, steps: [RECOVER] }],
    ...more,
  };
  const plan = PlanFile.parse(text);
  const { groups } = resolvePlan(plan, { ...surroundingsWith(2), hasApprovers: true });
  const { groups: _, ...rest } = plan;
  const forecast = { groups: [], totalMs: HOUR, path: ['data'], unknown: 0, steps: 2 };
  const digest = planDigest({ plan: rest, groups });
  const file = {
    plan: rest,
    groups,
    digests: { LIVE: digest, REHEARSAL: digest },
    unrehearsable: undefined,
    forecast,
  };
  const proven = { record: known(record({ recovered: recovered(48) })) };
  const facts = new Map<string, InstanceFacts>();
  for (const name of ['db-1', 'db-2']) {
    facts.set(name, instance({ name, ...proven }));
    facts.set(`${name}-dr`, emptyTarget(`${name}-dr`));
  }
  const lastProven = {
    runId: '01RUN',
    mode: 'REHEARSAL' as const,
    at: ago(48),
    digest,
  };
  return {
    name: 'west',
    file,
    facts,
    lastProven,
    approvers: [],
    notified: ['ops'],
    starter: ['ann'],
    ...given,
  };
}

/** The same plan, with other facts of one instance. */
function withFacts(of: Known, name: string, given: Partial<InstanceFacts>): Known {
  const before = of.facts.get(name) as InstanceFacts;
  return { ...of, facts: new Map([...of.facts, [name, { ...before, ...given }]]) };
}

const check = (of: Known, id: string, now = NOW) => evaluatePlan(of, now).checks.find((one) => one.id === id);

describe('a plan is', () => {
  test('PROVEN where every instance is, and it was run as it stands to a proven end', () => {
    const { verdict, reason, counts } = evaluatePlan(west(), NOW);
    expect([verdict, reason]).toEqual(['proven', expect.stringMatching(/^rehearsed on .* by run 01RUN$/u)]);
    expect(counts).toMatchObject({ proven: 2, ready: 0 });
  });

  test('NOT READY where a step of it notifies people, and the config names nobody', () => {
    const last = { finally: { steps: [{ id: 'tell', notify: { text: 'it has ended' } }] } };
    expect(check(west(last), 'people')?.state).toBe('not-applicable');
    expect(evaluatePlan(west(last, { notified: [] }), NOW)).toMatchObject({
      verdict: 'not-ready',
      reason: 'step tell tells nobody: lifeboat.yaml notifies no target',
    });
  });

  test('reported as lacking scratch instances for its next rehearsal, whenever the last one was', () => {
    const of = west();
    const why = 'a rehearsal needs 2 scratch instances';
    const lacking = { ...of, file: { ...of.file, unrehearsable: why } } as Known;
    for (const lastProven of [of.lastProven, undefined])
      expect(check({ ...lacking, lastProven }, 'rehearsed')?.reason).toContain(
        `; it cannot be rehearsed now: ${why}`,
      );
  });

  test('NOT READY by the first instance that is not, and UNKNOWN by one that could not be asked', () => {
    const one = withFacts(west(), 'db-2', { backups: known({ done: [], skewMs: 0 }) });
    expect(evaluatePlan(one, NOW)).toMatchObject({
      verdict: 'not-ready',
      reason: expect.stringMatching(/^db-2: /u),
      counts: { proven: 1, 'not-ready': 1 },
    });
    const silent = withFacts(west(), 'db-1', { overview: failed, backups: failed });
    expect(evaluatePlan(silent, NOW).verdict).toBe('unknown');
    const missing = west();
    const unasked = { ...missing, facts: new Map([...missing.facts].filter(([name]) => name !== 'db-1')) };
    expect(evaluatePlan(unasked, NOW)).toMatchObject({
      verdict: 'unknown',
      reason: 'db-1: it was not asked',
    });
  });

  test('READY where it was never run, or longer ago than its period, and where an instance is only ready', () => {
    expect(evaluatePlan(west({}, { lastProven: undefined }), NOW)).toMatchObject({
      verdict: 'ready',
      reason: 'the plan was never run to a proven end',
    });
    expect(evaluatePlan(west({ drill: { every: '1d' } }), NOW).verdict).toBe('ready');
    const one = withFacts(west(), 'db-1', { record: known(record()) });
    expect(evaluatePlan(one, NOW)).toMatchObject({ verdict: 'ready', counts: { proven: 1, ready: 1 } });
  });

  test('no longer PROVEN after a change of its steps or instances, whatever the order of its keys on record', () => {
    const proven = west();
    const { plan, groups } = proven.file as Parameters<typeof planDigest>[0];
    const onRecord = JSON.parse(canonicalize({ plan, groups }) ?? '') as Parameters<typeof planDigest>[0];
    expect(planDigest(onRecord)).toBe(proven.lastProven?.digest);
    const other = west({
      groups: [{ id: 'data', for: { instances: ['db-1'], target: '{name}-dr' }, steps: [RECOVER] }],
    });
    const changed = { ...other, lastProven: proven.lastProven };
    expect(evaluatePlan(changed, NOW)).toMatchObject({
      verdict: 'ready',
      reason: expect.stringContaining('the plan changed since'),
    });
  });

  test('NOT READY where its file has a mistake, with no other finding', () => {
    const { verdict, reason, checks } = evaluatePlan(west({}, { file: { problem: '2 mistakes' } }), NOW);
    expect([verdict, reason]).toEqual(['not-ready', '2 mistakes']);
    expect(checks.filter(({ state }) => state !== 'not-applicable').map(({ id }) => id)).toEqual(['file']);
  });

  test('NOT READY where a target holds data, and UNKNOWN where a target was looked at too long ago', () => {
    const filled = withFacts(west(), 'db-2-dr', { record: known(record()) });
    expect(evaluatePlan(filled, NOW)).toMatchObject({
      verdict: 'not-ready',
      reason: 'target db-2-dr holds data of its own',
    });
    expect(check(west(), 'targets', new Date(NOW.getTime() + 2 * DAY))).toMatchObject({ state: 'unknown' });
  });

  test('not a way to recover if it only prepares, since it overwrites no target', () => {
    const prepare = { ...RECOVER, with: { phase: 'prepare' } };
    const groups = [{ id: 'data', for: { name: 'db-*', target: '{name}-dr' }, steps: [prepare] }];
    expect(check(west({ groups }), 'targets')).toMatchObject({
      state: 'not-applicable',
      reason: 'the plan recovers nothing into a target',
    });
  });

  test('NOT READY where no key of a target is held', () => {
    expect(evaluatePlan(withFacts(west(), 'db-1-dr', { held: known([]) }), NOW)).toMatchObject({
      verdict: 'not-ready',
      reason: expect.stringContaining('no key of target db-1-dr is held'),
    });
  });

  test('NOT READY where earlier runs took longer than its RTO, UNKNOWN where steps were never run', () => {
    const timed = (totalMs: number, unknown: number) => {
      const of = west();
      const forecast = { groups: [], totalMs, path: ['data'], unknown, steps: 2 };
      return evaluatePlan({ ...of, file: { ...of.file, forecast } } as Known, NOW);
    };
    expect(timed(3 * HOUR, 1)).toMatchObject({
      verdict: 'not-ready',
      reason: expect.stringContaining('RTO'),
    });
    expect(timed(HOUR, 1)).toMatchObject({
      verdict: 'unknown',
      reason: expect.stringContaining('1 of 2 steps'),
    });
  });

  const person = (name: string, shownAt: string | undefined = ago(24)): Approver => ({
    names: [name],
    shownAt,
  });
  const approve = { approve: { quorum: 2, of: ['ann', 'ben', 'cleo'] } };
  const approvedBy = (...approvers: readonly Approver[]) => west(approve, { approvers });

  test('NOT READY where too few people can approve it without the one who starts it', () => {
    expect(evaluatePlan(approvedBy(person('ann'), person('ben')), NOW)).toMatchObject({
      verdict: 'not-ready',
      reason: '1 of 2 people who have to approve can do so',
    });
    expect(evaluatePlan(approvedBy(person('ben'), person('cleo')), NOW).verdict).toBe('proven');
    expect(evaluatePlan(approvedBy(person('ben'), person('dan')), NOW).verdict).toBe('not-ready');
  });

  test('NOT READY at once when an approver is removed from the list, however recently they signed', () => {
    const before = approvedBy(person('ben', ago(1)), person('cleo', ago(1)));
    expect(check(before, 'people')?.state).toBe('green');
    expect(check({ ...before, approvers: [person('ben', ago(1))] }, 'people')).toMatchObject({
      state: 'red',
      code: 'approval.too-few',
    });
  });

  test('UNKNOWN where too few of those who approve have ever shown that they have their keys', () => {
    const never = { names: ['cleo'] };
    expect(evaluatePlan(approvedBy(person('ben'), never), NOW)).toMatchObject({
      verdict: 'unknown',
      reason: expect.stringMatching(/^1 of 2 people who have to approve ever signed an approval/u),
    });
    const third = west({ approve: { quorum: 2 } }, { approvers: [person('ben'), never, person('dan')] });
    expect(check(third, 'people')?.state).toBe('green');
  });

  test('UNKNOWN 90 days after the oldest approval that the quorum needs', () => {
    const of = (hours: number) =>
      check(approvedBy(person('ben', ago(1)), person('cleo', ago(hours))), 'people');
    expect(of(90 * 24)).toMatchObject({ state: 'green', ageSeconds: 7_776_000, periodSeconds: 7_776_000 });
    expect(of(90 * 24 + 1)).toMatchObject({
      state: 'unknown',
      code: 'answer.stale',
      reason: expect.stringContaining('the last answer is 90 days old'),
    });
    const three = west({ approve: { quorum: 1 } }, { approvers: [person('ben', ago(4000)), person('dan')] });
    expect(check(three, 'people')?.state).toBe('green');
  });
});

test('a later moment gives a plan no better verdict', () => {
  const rank = ['proven', 'ready', 'unknown', 'not-ready'];
  const approved = west({ approve: {} }, { approvers: [{ names: ['ben'], shownAt: ago(24) }] });
  for (const of of [
    west(),
    west({ drill: { every: '3d' } }),
    west({}, { lastProven: undefined }),
    approved,
  ]) {
    const verdicts = [0, 1, 2, 3, 7, 30, 90, 365].map(
      (days) => evaluatePlan(of, new Date(NOW.getTime() + days * DAY)).verdict,
    );
    const ranks = verdicts.map((verdict) => rank.indexOf(verdict));
    expect(ranks).toEqual(ranks.toSorted((one, other) => one - other));
  }
});
