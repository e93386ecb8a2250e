import { expect, test } from 'vitest';
import { askFleet } from '../../../src/compose/ask-fleet.ts';
import { parseConfig } from '../../../src/config/load.ts';
import type { Keyring } from '../../../src/keys/key-store.ts';
import { foldLedger } from '../../../src/store/projections/ledgers.ts';
import type { InstanceFacts } from '../../../src/view/fleet/fleet-facts.ts';

const KEY = 'aaaaaaaaaaaa';
const NAMES = ['db-1', 'db-2', 'db-3', 'db-4'];

const ledger = foldLedger([
  { type: 'key.added', body: { fingerprint: KEY }, at: '2026-03-09T00:00:00Z', seq: 1 },
]);
const value = { ledger, openRuns: [], inDoubt: [], followUps: [] };

/** What is held of each instance, none of which can be reached, one after the other. */
async function heldOf(listAll: Keyring['listAll']): Promise<readonly InstanceFacts['held'][]> {
  const instances = Object.fromEntries(
    NAMES.map((name) => {
      const url = `http://127.0.0.1:9/service-instances/${name}`;
      return [name, { url, revision: 62, token: { env: 'PATH' } }];
    }),
  );
  const held: InstanceFacts['held'][] = [];
  await askFleet({
    config: parseConfig(JSON.stringify({ instances }), '/nowhere/lifeboat.yaml'),
    names: NAMES,
    recordOf: async () => ({ state: 'known', at: new Date(), value }),
    keyring: async () => ({ listAll }) as Keyring,
    limitMs: 20_000,
    atOnce: 1,
    answered: (facts) => void held.push(facts.held),
  });
  return held;
}

test('the keys of all instances are listed once, and an instance without keys holds none', async () => {
  let lists = 0;
  const held = await heldOf(async () => {
    lists += 1;
    return new Map([['db-2', [KEY]]]);
  });
  expect(lists).toBe(1);
  expect(held).toMatchObject([[], [KEY], [], []].map((keys) => ({ state: 'known', value: keys })));
});

test('a key store that opens while instances are asked is listed for the remaining ones', async () => {
  let lists = 0;
  const held = await heldOf(async () => {
    lists += 1;
    if (lists <= 2) throw new Error('locked');
    return new Map([['db-3', [KEY]]]);
  });
  expect(lists).toBe(3);
  expect(held.map(({ state }) => state)).toEqual(['failed', 'failed', 'known', 'known']);
});
