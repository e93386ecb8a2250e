import { expect, test } from 'vitest';
import { bringsDataBack } from '../../src/compose/recoveries.ts';
import type { Entry, JournalReader } from '../../src/store/journal.ts';

/** Whether a run that began with this input brings data back. */
function isRecovery(runbook: string, input: object, target?: string): Promise<boolean> {
  const read: JournalReader['read'] = async () => [{ body: { input } } as unknown as Entry];
  return bringsDataBack({ read }, { runId: 'a', runbook, target });
}

test.each(['restoreBackup', 'restoreToTime', 'performRecovery'])(
  'a single %s restores data, as a runbook does',
  async (change) => {
    expect(await isRecovery('single-change', { single: { change } })).toBe(true);
  },
);

test('a single backup restores no data, and of a recovery only the half with a target does', async () => {
  expect(await isRecovery('single-change', { single: { change: 'createBackup' } })).toBe(false);
  expect(await isRecovery('restore-backup', {})).toBe(true);
  expect(await isRecovery('disaster-recovery', { mode: 'prepare' })).toBe(false);
  expect(await isRecovery('disaster-recovery', { mode: 'perform' }, 'orders-dr')).toBe(true);
});
