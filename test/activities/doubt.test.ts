import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { judgeBackup } from '../../src/activities/doubt.ts';
import { Backup } from '../../src/service/schemas.ts';

const ARMED = Date.parse('2026-03-01T03:00:00Z');
const SETTLE = 60_000;

const backup = (id: number, triggeredAtMs?: number): Backup =>
  Backup.parse({
    id,
    status: 'queued',
    ...(triggeredAtMs === undefined ? {} : { triggered_at: new Date(triggeredAtMs).toISOString() }),
  });

const look = (
  backups: readonly Backup[],
  nowMs: number,
  ids: readonly number[] = [],
  skewMs: number | null = 0,
) => judgeBackup({ baseline: { ids: [...ids], skewMs }, armedAtMs: ARMED, nowMs, settleMs: SETTLE, backups });

describe('a lost request for a backup', () => {
  test('has landed when exactly one new backup is there', () => {
    const judged = look([backup(1, ARMED - 9e6), backup(2, ARMED + 900)], ARMED + 2_000, [1]);
    expect(judged).toMatchObject({ verdict: 'landed', output: { landed: true, id: 2, adopted: true } });
  });

  test('has landed also when the list gives no times', () => {
    expect(look([backup(1), backup(2)], ARMED + 1, [1])).toMatchObject({
      verdict: 'landed',
      output: { id: 2 },
    });
  });

  test('is not settled by a backup that was there before', () => {
    expect(look([backup(1, ARMED + 900)], ARMED + SETTLE + 1, [1])).toMatchObject({ verdict: 'absent' });
  });

  test('is not settled by a backup from long before the request, even when the list before did not show it', () => {
    expect(look([backup(2, ARMED - 60_000)], ARMED + SETTLE + 1)).toMatchObject({ verdict: 'absent' });
  });

  test('is judged by the clock of the service', () => {
    const tenMinutes = 600_000;
    const behind = backup(2, ARMED - tenMinutes + 500);
    expect(look([behind], ARMED + 1_000, [], -tenMinutes)).toMatchObject({ verdict: 'landed' });
    expect(look([behind], ARMED + SETTLE + 1, [], 0)).toMatchObject({ verdict: 'absent' });
  });

  test('is waited for until the settle time has passed, and only then absent', () => {
    expect(look([], ARMED + 1_000)).toMatchObject({ verdict: 'wait', untilMs: ARMED + SETTLE });
    expect(look([], ARMED + SETTLE - 1)).toMatchObject({ verdict: 'wait' });
    expect(look([], ARMED + SETTLE)).toMatchObject({ verdict: 'absent' });
  });

  test('with two new backups is a question that names both', () => {
    const judged = look([backup(2, ARMED + 1), backup(3, ARMED + 2)], ARMED + 10);
    expect(judged).toMatchObject({
      verdict: 'ambiguous',
      failure: { code: 'doubt.ambiguous', evidence: { candidates: [{ id: 2 }, { id: 3 }] } },
    });
  });
});

test('over generated histories: never adopts what was there before, never picks one of several, never gives up early', () => {
  const history = fc.record({
    before: fc.uniqueArray(fc.integer({ min: 1, max: 400 }), { maxLength: 40 }),
    /** Id, and the time it was triggered relative to the request, in ms. */
    after: fc.uniqueArray(
      fc.tuple(fc.integer({ min: 401, max: 900 }), fc.integer({ min: 0, max: 120_000 })),
      {
        maxLength: 4,
        selector: ([id]) => id,
      },
    ),
    skewMs: fc.integer({ min: -600_000, max: 600_000 }),
    lookedMs: fc.integer({ min: 0, max: 200_000 }),
  });
  fc.assert(
    fc.property(history, ({ before, after, skewMs, lookedMs }) => {
      const shown = after.filter(([, atMs]) => atMs <= lookedMs);
      const list = [
        ...before.map((id) => backup(id, ARMED - 3_600_000 + skewMs)),
        ...shown.map(([id, atMs]) => backup(id, ARMED + atMs + skewMs)),
      ];
      const judged = look(list, ARMED + lookedMs, before, skewMs);
      if (shown.length === 1)
        expect(judged).toMatchObject({ verdict: 'landed', output: { id: shown[0]?.[0] } });
      else if (shown.length > 1) expect(judged.verdict).toBe('ambiguous');
      else expect(judged.verdict).toBe(lookedMs < SETTLE ? 'wait' : 'absent');
    }),
    { numRuns: 5_000 },
  );
});
