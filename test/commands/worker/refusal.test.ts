import { expect, test } from 'vitest';
import { refusalOf } from '../../../src/commands/worker/refusal.ts';
import { foldLedger } from '../../../src/store/projections/ledgers.ts';
import type { RunProgress } from '../../../src/store/projections/runs.ts';

/** Why a worker that holds these keys refuses a run on an instance of which no key is on record. */
async function refused(runbook: string, ...held: readonly string[]): Promise<string | undefined> {
  const may = {
    config: { path: 'lifeboat.yaml', instances: { orders: { tags: [] } }, keys: {} },
    workspace: {
      journal: { read: async () => [], rows: async () => [] },
      keyring: { list: async () => held, store: { description: 'the vault file of this worker' } },
    },
    labels: [],
  };
  const run = { runId: 'a', runbook, instance: 'orders' };
  return refusalOf(may as unknown as Parameters<typeof refusalOf>[0], run as RunProgress);
}

test('a run that opens a backup is left to a worker that holds a key of the instance', async () => {
  expect(await refused('back-up-and-verify')).toBe(
    'no key of orders is on record, and none is in the vault file of this worker',
  );
  expect(await refused('back-up-and-verify', '3fa9c01b22de')).toBeUndefined();
});

test('a run that needs no key before its first call is taken by any worker while no key is on record', async () => {
  for (const runbook of ['rotate-key', 'restore-backup', 'disaster-recovery', 'restart'])
    expect(await refused(runbook)).toBeUndefined();
});

interface Keys {
  /** By instance. */
  readonly onRecord: Readonly<Record<string, string | readonly string[]>>;
  readonly held: Readonly<Record<string, string>>;
  /** The key that the recovery card of orders names. */
  readonly card?: string;
}

/** Why a worker refuses to recover orders into its target. */
async function recoveryRefused({ onRecord, held, card }: Keys): Promise<string | undefined> {
  const rows = async (_: string, { keyPrefix = '' }: { readonly keyPrefix?: string }) => {
    const fingerprint = onRecord[keyPrefix.slice(0, -1)];
    if (fingerprint === undefined) return [];
    const at = '2026-03-01T02:00:00.000Z';
    const added = [fingerprint].flat().map((one, index) => ({
      ...{ type: 'key.added', seq: index + 1, at },
      body: { fingerprint: one, source: 'added' },
    }));
    const named = keyPrefix === 'orders/' && card !== undefined ? [card] : [];
    const cards = named.map((key) => ({
      ...{ type: 'card.prepared', seq: 9, at },
      body: {
        card: { backupGuid: 'guid', preparedAt: at, crossCheck: 'agrees', fingerprint: key },
        run: 'b',
      },
    }));
    return [{ value: foldLedger([...added, ...cards]) }];
  };
  const may = {
    config: {
      path: 'lifeboat.yaml',
      instances: { orders: { tags: [] }, 'orders-dr': { tags: [] } },
      keys: {},
    },
    workspace: {
      journal: { read: async () => [], rows },
      keyring: {
        list: async (name: string) => [held[name]].filter((key) => key !== undefined),
        store: { description: 'the vault file of this worker' },
      },
    },
    labels: [],
  };
  const run = { runId: 'a', runbook: 'disaster-recovery', instance: 'orders', target: 'orders-dr' };
  return refusalOf(may as unknown as Parameters<typeof refusalOf>[0], run as RunProgress);
}

test('a recovery is left to a worker that holds the keys of both the instance and its target', async () => {
  const onRecord = { orders: 'aaaaaaaaaaaa', 'orders-dr': 'bbbbbbbbbbbb' };
  expect(await recoveryRefused({ onRecord, held: onRecord })).toBeUndefined();
  expect(await recoveryRefused({ onRecord, held: { orders: 'aaaaaaaaaaaa' } })).toBe(
    'key bbbbbbbbbbbb of orders-dr is not in the vault file of this worker, and nothing here opens it',
  );
  expect(await recoveryRefused({ onRecord, held: { 'orders-dr': 'bbbbbbbbbbbb' } })).toContain(
    'key aaaaaaaaaaaa of orders is not in',
  );
});

test('a recovery is left to a worker that holds the key of its card, where several may be in force', async () => {
  const onRecord = { orders: ['aaaaaaaaaaaa', 'cccccccccccc'], 'orders-dr': 'bbbbbbbbbbbb' };
  const held = { orders: 'cccccccccccc', 'orders-dr': 'bbbbbbbbbbbb' };
  expect(await recoveryRefused({ onRecord, held })).toBeUndefined();
  expect(await recoveryRefused({ onRecord, held, card: 'cccccccccccc' })).toBeUndefined();
  expect(await recoveryRefused({ onRecord, held, card: 'aaaaaaaaaaaa' })).toContain(
    'key aaaaaaaaaaaa of orders',
  );
});
