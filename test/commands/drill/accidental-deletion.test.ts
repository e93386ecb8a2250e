import { expect, test } from 'vitest';
import { accidentalDeletion } from '../../../src/commands/drill/accidental-deletion.ts';
import type { Stage } from '../../../src/commands/drill/stage.ts';

/** A lab whose database answers `refused` to the DELETE, and never has its lock. */
function stageThatRefuses(refused: Error): Stage {
  const query = async (sql: string) => {
    if (sql.includes('delete from orders')) throw refused;
    if (sql.includes('min(created_at)')) return [{ old: true }];
    return [];
  };
  return {
    lab: { instances: [{ name: 'billing', query }], clock: { fromReal: (date: Date) => date } },
    signal: new AbortController().signal,
    say: () => undefined,
  } as unknown as Stage;
}

test('a drill whose DELETE the database refuses ends with the reason, and does not wait for its lock', async () => {
  const refused = new Error('deadlock detected');
  await expect(accidentalDeletion('billing').play(stageThatRefuses(refused))).rejects.toBe(refused);
});
