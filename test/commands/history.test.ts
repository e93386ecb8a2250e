import { expect, test } from 'vitest';
import { runbooks } from '../../machines/index.ts';
import type { Runbook } from '../../machines/parts/runbook.ts';
import { earlierTimes, historyOf } from '../../src/commands/run/history.ts';
import type { Entry, JournalReader } from '../../src/store/journal.ts';
import { rotated } from '../runner/world.ts';

const rotateKey = runbooks['rotate-key'] as Runbook;

test('the history of a run is read only on request, and given to its caller', async () => {
  const { journal, runId } = await rotated();
  const history = historyOf(journal, rotateKey, { runId, instance: 'orders' });
  expect(history.times()).toBeUndefined();
  await new Promise<void>((resolve) => history.subscribe(resolve));
  expect(history.times()?.runs).toBe(1);
  expect(history.times()?.steps.has('backup')).toBe(true);
});

test('only runs of the same instance, kind and version count', async () => {
  const { journal } = await rotated();
  const like = { mode: undefined, action: undefined };
  const runsOf = async (runbook: Runbook, more = {}) =>
    (await earlierTimes(journal, runbook, { ...like, ...more })).runs;
  expect(await runsOf(rotateKey)).toBe(1);
  expect(await runsOf(rotateKey, { instance: 'orders' })).toBe(1);
  expect(await runsOf(rotateKey, { instance: 'billing' })).toBe(0);
  expect(await runsOf(rotateKey, { mode: 'prepare' })).toBe(0);
  expect(await runsOf({ ...rotateKey, version: '0' })).toBe(0);
});

test('however many runs there are, only a few are read, and no huge one', async () => {
  const read: string[] = [];
  const asked: unknown[] = [];
  const journal = {
    rows: async (_: string, query: unknown) => {
      asked.push(query);
      return Array.from({ length: 200 }, (_unused, at) => ({
        key: `r${at}`,
        group: 'closed',
        sort: '',
        value: {
          runId: `r${at}`,
          runbook: 'rotate-key',
          version: rotateKey.version,
          instance: 'orders',
          proven: true,
        },
      }));
    },
    head: async (stream: string) => ({ stream, seq: stream === 'run/r0' ? 2_001 : 10, hash: '' }),
    read: async (stream: string) => {
      read.push(stream);
      return [
        { type: 'run.started', body: { input: {} }, at: '2026-11-23T10:00:00.000Z' } as unknown as Entry,
      ];
    },
  } as unknown as JournalReader;
  const times = await earlierTimes(journal, rotateKey, { mode: undefined, action: undefined });
  expect(read).toEqual(['run/r1', 'run/r2', 'run/r3', 'run/r4', 'run/r5']);
  expect(asked).toEqual([{ group: 'closed', limit: 200, order: 'descending' }]);
  expect(times.runs).toBe(5);
});

test('a journal that cannot be read gives no history, and breaks nothing', async () => {
  const tried = Promise.withResolvers<void>();
  const broken = {
    read: async () => {
      tried.resolve();
      throw new Error('the disk is gone');
    },
  } as unknown as JournalReader;
  const history = historyOf(broken, rotateKey, { runId: 'r', instance: 'orders' });
  history.subscribe(() => undefined);
  await tried.promise;
  expect(history.times()).toBeUndefined();
});
