import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  type History,
  type KeptBackup,
  parseHistory,
  parseLsn,
  reachable,
  routeTo,
  segmentAt,
  segmentOf,
  type TimelineSpan,
} from '../../../src/lab/data/history.ts';

function span(
  timeline: number,
  from: number,
  ...ancestors: readonly (readonly [number, number])[]
): TimelineSpan {
  return {
    timeline,
    from,
    ancestors: ancestors.map(([parent, end]) => ({ timeline: parent, end: BigInt(end) })),
  };
}

function backup(id: string, timeline: number, stoppedAt: number, end: number): KeptBackup {
  return { id, timeline, start: BigInt(end - 5), end: BigInt(end), stoppedAt };
}

/* At 500 the database went back to position 30, at 800 to position 60 of the second timeline. */
const spans = [span(1, 0), span(2, 500, [1, 30]), span(3, 800, [1, 30], [2, 60])];

test('the range begins at the oldest remaining backup, across all restores', () => {
  const backups = [backup('a', 1, 100, 10), backup('b', 1, 400, 40), backup('c', 2, 600, 50)];
  expect(reachable({ spans, backups }, 1000)).toEqual({ start: 100, end: 1000 });
});

test('a backup of an abandoned timeline is no starting point for later times', () => {
  const onlyAbandoned = [backup('b', 1, 400, 40)];
  expect(reachable({ spans, backups: onlyAbandoned }, 1000)).toEqual({ start: 400, end: 499 });
  const withNewer = [...onlyAbandoned, backup('d', 3, 900, 70)];
  expect(reachable({ spans, backups: withNewer }, 1000)).toEqual({ start: 900, end: 1000 });
  // The second span has a backup of its own from 600; before that, no backup leads to it.
  const middle = [...onlyAbandoned, backup('c', 2, 600, 50)];
  expect(reachable({ spans, backups: middle }, 1000)).toEqual({ start: 600, end: 1000 });
  expect(reachable({ spans, backups: [] }, 1000)).toBeUndefined();
});

test('a time is reached along the timeline of that time, from the newest earlier backup', () => {
  const history: History = {
    spans,
    backups: [backup('a', 1, 100, 10), backup('b', 1, 400, 40), backup('c', 2, 600, 50)],
  };
  const at = (time: number) => {
    const route = routeTo(history, time);
    return route && [route.backup.id, route.span.timeline, route.isOver];
  };
  expect(at(99)).toBeUndefined();
  expect(at(100)).toEqual(['a', 1, true]);
  expect(at(499)).toEqual(['b', 1, true]);
  // `b` is of the stretch that was left behind.
  expect(at(500)).toEqual(['a', 2, true]);
  expect(at(600)).toEqual(['c', 2, true]);
  expect(at(5000)).toEqual(['c', 3, false]);
});

test('every time of the range has a route, which never starts after that time', () => {
  const anyBackup = fc
    .record({ timeline: fc.integer({ min: 1, max: 3 }), stoppedAt: fc.nat(1000), end: fc.nat(100) })
    .map(({ timeline, stoppedAt, end }) =>
      backup(`${timeline}/${stoppedAt}/${end}`, timeline, stoppedAt, end),
    );
  fc.assert(
    fc.property(fc.array(anyBackup, { maxLength: 6 }), fc.nat(1), (backups, share) => {
      const range = reachable({ spans, backups }, 1000);
      if (range === undefined) return;
      expect(range.start).toBeLessThanOrEqual(range.end);
      for (let time = range.start; time <= range.end; time += 1 + share) {
        const route = routeTo({ spans, backups }, time);
        expect(route?.backup.stoppedAt).toBeLessThanOrEqual(time);
        expect(route?.span).toBe(spans.findLast(({ from }) => from <= time));
      }
    }),
  );
});

test('names of log files and positions are interpreted as PostgreSQL writes them', () => {
  expect(segmentOf('00000002000000010000000A')).toEqual({ timeline: 2, number: 4096 + 10 });
  expect(segmentOf('00000002000000010000000A.partial')).toBeUndefined();
  expect(segmentAt(parseLsn('1/A00028'))).toBe(4096 + 10);
  const text = '1\t0/900120\tno recovery target specified\n# a comment\n2\t0/B00000\tbefore 2026\n';
  expect(parseHistory(text)).toEqual([
    { timeline: 1, end: 0x900120n },
    { timeline: 2, end: 0xb00000n },
  ]);
});
