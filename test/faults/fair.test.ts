import { expect, test } from 'vitest';
import type { Entry } from '../../src/store/journal.ts';
import type { Case } from './cases.ts';
import { concerns, type Fault } from './faults.ts';
import { sampleOf } from './sample.ts';
import { allowedMore, claimsOf } from './verdict.ts';

/** As many cases of a kind as a flow has endpoints of it. */
function casesIn(name: string, kind: Case['kind'], endpoints: number): Case[] {
  return Array.from({ length: endpoints }, (_, nth) =>
    (['401', '500'] as const).map(
      (fault) =>
        ({
          flow: { name, revision: 62 },
          kind,
          plan: { peer: 'service', route: `GET orders /${nth}`, nth: 1, fault, times: 'once' },
        }) as unknown as Case,
    ),
  ).flat();
}

const ALL = [
  ...casesIn('long', 'decision', 50),
  ...casesIn('short', 'decision', 2),
  ...casesIn('short', 'poll', 1),
];

test('a sample contains every fault at every kind of endpoint once before it repeats any', () => {
  const cells = sampleOf(ALL, 4, 1).map(({ kind, plan }) => `${kind} ${plan.fault}`);
  expect(cells.toSorted()).toEqual(['decision 401', 'decision 500', 'poll 401', 'poll 500']);
});

test('a flow with many endpoints gets no larger share of a sample than one with few', () => {
  const names = sampleOf(ALL, 8, 1).map(({ flow }) => flow.name);
  expect(names.filter((name) => name === 'long').length).toBe(4);
});

test('the same seed gives the same sample, another seed a different one, and neither repeats a case', () => {
  expect(sampleOf(ALL, 20, 7)).toEqual(sampleOf(ALL, 20, 7));
  expect(sampleOf(ALL, 20, 7)).not.toEqual(sampleOf(ALL, 20, 8));
  expect(new Set(sampleOf(ALL, 1_000, 7)).size).toBe(ALL.length);
});

const answered = (type: string) => ({ type: 'event', body: { event: { type } } }) as unknown as Entry;

test('one more backup is allowed each time a person has the key set again, and only then', () => {
  const [one] = casesIn('rotate-key', 'key', 1);
  if (one === undefined) throw new Error('there is a case');
  const more = (change: string, ...answers: string[]) => allowedMore(one, change, answers.map(answered));
  expect(more('POST orders /backups', 'operator.confirm')).toBe(0);
  expect(more('POST orders /backups', 'operator.setAgain')).toBe(1);
  expect(more('POST orders /backups/:id/restore', 'operator.setAgain')).toBe(0);
  const [decision] = casesIn('restore-backup', 'decision', 1);
  expect(decision && allowedMore(decision, 'POST orders /backups', [answered('operator.setAgain')])).toBe(0);
});

test('a task that failed may be requested once more, and no other change', () => {
  const [one] = casesIn('restore-backup', 'task', 1);
  if (one === undefined) throw new Error('there is a case');
  const failed: Case = {
    ...one,
    plan: { ...one.plan, fault: 'task-failed', route: 'POST orders /backups/:id/restore' },
  };
  expect(allowedMore(failed, 'POST orders /backups/:id/restore', [])).toBe(1);
  expect(allowedMore(failed, 'POST orders /backups', [])).toBe(0);
});

test('a change that a proxy sends twice is allowed twice, each time it does so, and no other change', () => {
  const [one] = casesIn('restore-backup', 'task', 1);
  if (one === undefined) throw new Error('there is a case');
  const more = (change: string, times: 'once' | 'always') =>
    allowedMore(
      {
        ...one,
        plan: { ...one.plan, fault: 'sent-twice', times, route: 'POST orders /backups' },
        effects: new Map([['POST orders /backups', 2]]),
      },
      change,
      [],
    );
  expect(more('POST orders /backups', 'once')).toBe(1);
  expect(more('POST orders /backups', 'always')).toBe(2);
  expect(more('POST orders /backups/:id/restore', 'always')).toBe(0);
});

test('a second restore sent by a proxy must be reported, and one with another cause must not', () => {
  const [one] = casesIn('restore-backup', 'task', 1);
  if (one === undefined) throw new Error('there is a case');
  const route = 'POST orders /backups/:id/restore';
  const twice: Case = {
    ...one,
    plan: { ...one.plan, fault: 'sent-twice', route },
    effects: new Map([[route, 1]]),
  };
  const told = { type: 'activity.ended', body: { output: { beside: [{ id: 8 }] } } } as unknown as Entry;
  expect(claimsOf(twice, new Map([[route, 2]]), [])).toEqual(['nothing of the second']);
  expect(claimsOf(twice, new Map([[route, 2]]), [told])).toEqual([]);
  expect(claimsOf(twice, new Map([[route, 1]]), [])).toEqual([]);
});

test('a fault is applied only where it can have an effect', () => {
  const met = (fault: Fault, ...routes: string[]) => routes.filter((route) => concerns(fault, route));
  const routes = [
    'GET orders /',
    'GET orders /backups',
    'GET orders /backups at the end',
    'GET orders /backups/:id',
    'GET orders /backups-config',
    'POST orders /backups',
    'POST orders /backups/:id/restore',
  ];
  expect(met('100', ...routes)).toEqual(routes);
  expect(met('odd-rows', ...routes)).toEqual(['GET orders /backups', 'GET orders /backups at the end']);
  expect(met('other-instance', ...routes)).toEqual([
    'GET orders /backups/:id',
    'POST orders /backups',
    'POST orders /backups/:id/restore',
  ]);
});
