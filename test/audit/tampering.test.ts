import { expect, onTestFinished, test } from 'vitest';
import { sealedVictim } from './sealed-victim.ts';
import { sweepTamperings } from './tampering-sweep.ts';

test('whatever is done to a sealed journal is found, changes nothing that can be read, or is told to be unsealed', async () => {
  const victim = await sealedVictim();
  onTestFinished(victim.remove);
  expect(victim.notes).toHaveLength(3);
  const { verdicts, missed } = await sweepTamperings(victim, { count: 150, seed: 7 });
  expect(missed).toEqual([]);
  expect(verdicts.rows.told).toBeGreaterThan(0);
  for (const { found } of Object.values(verdicts)) expect(found).toBeGreaterThan(75);
});
