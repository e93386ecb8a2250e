import { expect, onTestFinished, test } from 'vitest';
import { sealedVictim } from './sealed-victim.ts';
import { sweepTamperings } from './tampering-sweep.ts';

test('any tampering with a store, its checkpoints and its files is found by the audits that the table names, as the finding it names', async () => {
  const victim = await sealedVictim();
  onTestFinished(victim.remove);
  const { found, missed } = await sweepTamperings(victim, { count: 250, seed: 7 });
  expect(missed).toEqual([]);
  for (const many of Object.values(found)) expect(many).toBeGreaterThan(60);
});
