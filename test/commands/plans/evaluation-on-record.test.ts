import { describe, expect, test } from 'vitest';
import { onRecord } from '../../../src/commands/plans/evaluation-on-record.ts';
import type { Entry, NewEntry } from '../../../src/store/journal.ts';
import { type Evaluated, newestEvaluationIn } from '../../../src/store/projections/evaluations.ts';

const DAY = 24 * 60 * 60_000;
const START = Date.UTC(2026, 5, 1);
const facts = { overview: { state: 'missing' as const } };

type Check = Parameters<typeof onRecord>[0]['evaluation']['checks'][number];

const check = (state: Check['state']): Check => ({ id: 'restored', state, reason: 'by the test' }) as Check;

function made(before: Evaluated | undefined, at: number, state: Check['state'] = 'green') {
  const verdict = state === 'green' ? ('proven' as const) : ('not-ready' as const);
  return onRecord({
    ...{ subject: 'orders', facts, before, owner: 'Robin', now: new Date(at) },
    evaluation: { verdict, reason: 'by the test', checks: [check(state)] },
  });
}

/** The evaluations of a year, one each half an hour, of an instance that changes on these days. */
function year(changes: ReadonlySet<number>): readonly Entry[] {
  const entries: Entry[] = [];
  let state: Check['state'] = 'green';
  for (let at = START; at < START + 365 * DAY; at += DAY / 48) {
    if ((at - START) % DAY === 0 && changes.has((at - START) / DAY))
      state = state === 'green' ? 'red' : 'green';
    const { entry } = made(newestEvaluationIn(entries.slice(-2)), at, state);
    if (entry !== undefined) entries.push(stored(entry, at, entries.length));
  }
  return entries;
}

function stored(entry: NewEntry, at: number, index: number): Entry {
  return { ...entry, at: new Date(at).toISOString(), by: 'Robin', seq: index + 1, index, hash: '' } as Entry;
}

describe('an evaluation that finds nothing new', () => {
  test('goes on record once a week, however many evaluations there are', () => {
    const entries = year(new Set());
    expect(entries).toHaveLength(53);
    const months = new Set(entries.map(({ at }) => at.slice(0, 7)));
    expect(months.size).toBe(12);
  });

  test('keeps the time since when the verdict stands, and when a finding was first seen', () => {
    const first = stored(made(undefined, START, 'red').entry as NewEntry, START, 0);
    const before = newestEvaluationIn([first]);
    const { changed, entry } = made(before, START + 7 * DAY, 'red');
    expect(changed).toBe(false);
    const after = newestEvaluationIn([first, stored(entry as NewEntry, START + 7 * DAY, 1)]);
    expect(after).toMatchObject({
      at: new Date(START + 7 * DAY).toISOString(),
      since: new Date(START).toISOString(),
      findings: [{ firstSeen: new Date(START).toISOString() }],
    });
  });

  test('waits a week after a change, which goes on record at once', () => {
    const entries = year(new Set([3, 12]));
    const days = entries.slice(0, 5).map(({ at }) => (Date.parse(at) - START) / DAY);
    expect(days).toEqual([0, 3, 10, 12, 19]);
  });
});
