import { expect, test } from 'vitest';
import { refusalOf } from '../../../src/commands/worker/refusal.ts';
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
