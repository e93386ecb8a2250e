import { expect, test } from 'vitest';
import type { ExpectedOrigin } from '../../machines/parts/recovery-data.ts';
import { judgeTask } from '../../src/activities/doubt.ts';
import { recoveryFromElsewhere } from '../../src/activities/restore-fits.ts';
import { Restore } from '../../src/service/schemas.ts';

const ARMED = Date.parse('2026-03-01T03:00:00Z');
const IN_FLIGHT = 60_000;
const CHOSEN: ExpectedOrigin = {
  triggeredAt: '2026-02-28T01:30:00.832Z',
  startedAt: '2026-02-28T01:45:00Z',
  finishedAt: '2026-02-28T02:10:00Z',
};

test.for([
  ['2026-02-28T01:30:00.832Z', 'it was triggered'],
  ['2026-02-28T01:30:00Z', 'it was triggered, without fractions'],
  ['2026-02-28T01:45:00Z', 'it was begun'],
  ['2026-02-28T02:10:00+00:00', 'it was finished'],
])('a recovery of data from %s, when the chosen backup says that %s, is ours', ([from]) => {
  expect(judge([restore(2, from)], CHOSEN)).toMatchObject({
    verdict: 'landed',
    output: { landed: true, id: 2, adopted: true },
  });
});

test.for(['2026-02-28T01:29:58Z', '2026-02-28T02:10:02Z', '2025-02-28T01:30:00Z'])(
  "a colleague's recovery of another backup, of data from %s, is never adopted, but is evidence for a question",
  (from) => {
    expect(judge([restore(2, from)], CHOSEN, 5_000).verdict).toBe('wait');
    expect(judge([restore(2, from)], CHOSEN)).toMatchObject({
      verdict: 'ambiguous',
      failure: {
        code: 'doubt.ambiguous',
        evidence: {
          candidates: [{ id: 2, restoredFrom: from, why: expect.stringContaining('a time other than') }],
        },
      },
    });
  },
);

test("ours is found beside a colleague's recovery of another backup", () => {
  const both = [restore(2, '2026-02-01T00:00:00Z'), restore(3, '2026-02-28T01:30:00Z')];
  expect(judge(both, CHOSEN)).toMatchObject({ verdict: 'landed', output: { id: 3 } });
});

test('a recovery without a time is waited for while it may still get one, then asked about', () => {
  expect(judge([restore(2, undefined, 'running')], CHOSEN, 5_000).verdict).toBe('wait');
  expect(judge([restore(2, undefined, 'done')], CHOSEN, 5_000).verdict).toBe('ambiguous');
});

test('if the newest backup is recovered, it may be newer than the known one, but no older', () => {
  const expected = { triggeredAt: '2026-02-28T01:30:00Z', orNewer: true };
  expect(judge([restore(2, '2026-02-28T23:00:00Z')], expected).verdict).toBe('landed');
  expect(judge([restore(2, '2026-02-27T23:00:00Z')], expected).verdict).toBe('ambiguous');
});

test('if nothing is known of the backup, or it has no readable time, no new recovery is taken for ours', () => {
  for (const expected of [undefined, {}, { triggeredAt: 'yesterday' }])
    expect(judge([restore(2, '2020-01-01T00:00:00Z')], expected).verdict).toBe('ambiguous');
});

function judge(tasks: readonly Restore[], expected: ExpectedOrigin | undefined, afterMs = IN_FLIGHT + 1_000) {
  const skew = { skewMs: 0, uncertaintyMs: 0 };
  const baseline = { tasks: [], skew };
  return judgeTask(
    { baseline, armedAtMs: ARMED, nowMs: ARMED + afterMs, inFlightMs: IN_FLIGHT, tasks, skew },
    recoveryFromElsewhere([], undefined, expected),
  );
}

function restore(id: number, from: string | undefined, status = 'done'): Restore {
  return Restore.parse({
    id,
    status,
    backup_id: 9,
    metadata: { restored_from: from },
    triggered_at: new Date(ARMED + 900).toISOString(),
  });
}
