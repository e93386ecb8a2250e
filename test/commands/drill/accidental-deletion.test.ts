import { expect, test } from 'vitest';
import { accidentalDeletion } from '../../../src/commands/drill/accidental-deletion.ts';
import type { Stage } from '../../../src/commands/drill/stage.ts';

const NOON = Date.parse('2026-03-01T12:00:00Z');
const seconds = (count: number) => ({ start: new Date(NOON), end: new Date(NOON + count * 1000) });
const REFUSED = new Error('deadlock detected');

/** A lab whose database answers `REFUSED` to the DELETE, and never has its lock. */
function stageWith(range: () => Promise<ReturnType<typeof seconds> | undefined>, did: string[] = []): Stage {
  const query = async (sql: string) => {
    if (!sql.includes('delete from orders')) return [];
    did.push('DELETE');
    throw REFUSED;
  };
  return {
    lab: { instances: [{ name: 'billing', query, range }], clock: { fromReal: (date: Date) => date } },
    signal: new AbortController().signal,
    say: () => undefined,
  } as unknown as Stage;
}

test('a drill whose DELETE the database refuses ends with the reason, and does not wait for its lock', async () => {
  const playing = accidentalDeletion('billing').play(stageWith(async () => seconds(60)));
  await expect(playing).rejects.toBe(REFUSED);
});

test('no order is deleted before the service can restore to a moment at a distance from both edges', async () => {
  const did: string[] = [];
  const ranges = [undefined, seconds(0), seconds(9), seconds(11)];
  const stage = stageWith(async () => {
    did.push(`range ${ranges.length}`);
    return ranges.length > 1 ? ranges.shift() : ranges[0];
  }, did);
  await expect(accidentalDeletion('billing').play(stage)).rejects.toBe(REFUSED);
  expect(did).toEqual(['range 4', 'range 3', 'range 2', 'range 1', 'DELETE']);
});
