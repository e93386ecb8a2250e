import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Entry, JournalReader, NewEntry } from '../../../src/store/journal.ts';
import { bringsDataBack, newestRecoveries } from '../../../src/store/projections/recoveries.ts';
import { journalOf, readerOf } from './generated-entries.ts';

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

interface Begun {
  readonly runbook: 'restore-backup' | 'rotate-key' | 'disaster-recovery';
  readonly instance: string;
  readonly target?: string;
  readonly end: 'proven' | 'not proven' | 'abandoned' | 'open';
}

/** The entries of runs that begin and end one after the other; the id of each is its place. */
function entriesOf(begun: readonly Begun[]): readonly Entry[] {
  return journalOf(
    begun.flatMap(({ runbook, instance, target, end }, at): readonly NewEntry[] => {
      const stream = `run/R${at}` as const;
      const input = { mode: target === undefined ? 'prepare' : 'perform' };
      const to = target === undefined ? {} : { target };
      const body = { runbook, version: '1', instance, ...to, mode: 'LIVE', input };
      const started = { stream, type: 'run.started', body };
      if (end === 'open') return [started];
      if (end === 'abandoned') return [started, { stream, type: 'run.abandoned', body: { why: 'a test' } }];
      return [started, { stream, type: 'run.closed', body: { title: 'over', proven: end === 'proven' } }];
    }),
  );
}

const NAMES = ['orders', 'orders-dr', 'ledger'];

/** Which run each instance was recovered by last, looked for in all runs. */
function wholeRecoveries(begun: readonly Begun[]) {
  return NAMES.flatMap((name): (readonly [string, string])[] => {
    const at = begun.findLastIndex(
      ({ runbook, instance, target, end }) =>
        end === 'proven' &&
        (runbook === 'restore-backup' || (runbook === 'disaster-recovery' && target !== undefined)) &&
        (instance === name || target === name),
    );
    return at < 0 ? [] : [[name, `R${at}`]];
  });
}

async function found(entries: readonly Entry[]) {
  const runs = await newestRecoveries(readerOf(entries), NAMES);
  return NAMES.flatMap((name): (readonly [string, string])[] => {
    const run = runs.get(name);
    return run === undefined ? [] : [[name, run.runId]];
  });
}

test('the newest proven recovery of each instance is found in any order of runs', async () => {
  const name = fc.constantFrom(...NAMES);
  const run = fc.record<Begun>(
    {
      runbook: fc.constantFrom('restore-backup', 'rotate-key', 'disaster-recovery'),
      instance: name,
      target: name,
      end: fc.constantFrom('proven', 'not proven', 'abandoned', 'open'),
    },
    { requiredKeys: ['runbook', 'instance', 'end'] },
  );
  await fc.assert(
    fc.asyncProperty(fc.array(run, { maxLength: 15 }), async (begun) => {
      expect(await found(entriesOf(begun))).toEqual(wholeRecoveries(begun));
    }),
    { numRuns: 200 },
  );
});

test('a recovery is found behind thousands of runs of other instances', async () => {
  const mine: Begun = { runbook: 'restore-backup', instance: 'orders', end: 'proven' };
  const others = Array.from({ length: 3_000 }, (_, at): Begun => ({ ...mine, instance: `other-${at}` }));
  const reader = readerOf(entriesOf([mine, ...others]));
  expect((await newestRecoveries(reader, ['orders'])).get('orders')?.runId).toBe('R0');
  expect(reader.asked).toEqual({ rows: 2, entries: 0 });
});
