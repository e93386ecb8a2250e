import { expect, onTestFinished, test } from 'vitest';
import { sealedVictim } from './sealed-victim.ts';
import { sweepTamperings } from './tampering-sweep.ts';

test('whatever is done to a store, its checkpoints and its files is found by those whom the table names, as what it names', async () => {
  const victim = await sealedVictim();
  onTestFinished(victim.remove);
  const { found, missed } = await sweepTamperings(victim, { count: 250, seed: 7 });
  expect(missed).toEqual([]);
  for (const many of Object.values(found)) expect(many).toBeGreaterThan(60);
});
