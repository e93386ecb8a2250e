import { expect, test } from 'vitest';
import { builtProduct } from '../bench-kit/product.ts';
import { CASES, nameOf } from './cases.ts';
import { LEASE_MS, tryCase } from './trial.ts';

/* One case of each blow, in states that are not alike; `npm run test:team` has all of them. */

const product = builtProduct({ cheapVault: true, leaseMs: LEASE_MS });

test.for([
  'back-up-and-verify, sent, killed',
  'restore-backup, connected, stopped',
  'backups restore, arming, stopped',
  'restore-backup, armed, cut off',
  'back-up-and-verify, checkpoint written, silent',
  'restore-backup, answer awaited, database restarted',
  'restore-backup, outcome, failed over',
])('two people with one database send once and lose nothing: %s', { timeout: 1_800_000 }, async (name) => {
  const one = CASES.find((known) => nameOf(known) === name);
  if (one === undefined) throw new Error(`there is no case ${name}`);
  const { hit, problems } = await tryCase(product, one);
  expect(problems).toEqual([]);
  expect(hit).toBe(true);
});
