import { describe, expect, test } from 'vitest';
import { baselineDifferences, targetDifferences } from '../../machines/parts/baseline.ts';
import type { TargetIdentity } from '../../machines/parts/recovery-data.ts';
import type { Baseline } from '../../machines/parts/task-data.ts';

const update = (version: string) => JSON.stringify(['postgresql', 'release', version]);
const BEFORE: Baseline = {
  serviceId: '7',
  state: 'available',
  updatedAt: '2026-03-01T00:00:00Z',
  updates: [update('18.1')],
  minKeyLength: 16,
  newestBackup: 3,
  runningTasks: [],
  runningRestores: [],
  newestRestore: 5,
};

describe('what a confirmation of an instance rests on', () => {
  test.for<readonly [what: string, now: Partial<Baseline>, said: readonly string[]]>([
    ['the same again', {}, []],
    ['a time that moved', { updatedAt: '2026-03-01T00:09:00Z' }, []],
    ['a time that is no longer reported', { updatedAt: undefined }, []],
    ['another instance', { serviceId: '8' }, ['it is a different service instance']],
    ['another state', { state: 'deploying' }, ['its state is deploying, it was available']],
    ['a longer key', { minKeyLength: 32 }, ['the minimum key length is 32, it was 16']],
    ['a newer backup', { newestBackup: 4 }, ['the newest backup is 4, it was 3']],
    ['a backup under way', { runningTasks: [4] }, ['backup 4 has started']],
    ['a restore under way', { runningRestores: [6], newestRestore: 6 }, ['restore 6 has started']],
    ['a restore that came and went', { newestRestore: 6 }, ['restore 6 was made meanwhile']],
    ['restores that cannot be seen any more', { runningRestores: undefined, newestRestore: undefined }, []],
    [
      'another update',
      { updates: [update('18.2')] },
      [
        'update postgresql release 18.2 is offered now',
        'update postgresql release 18.1 is no longer offered',
      ],
    ],
    ['updates that are no longer reported', { updates: undefined }, []],
  ])('%s', ([, now, said]) => {
    expect(baselineDifferences(BEFORE, { ...BEFORE, ...now })).toEqual(said);
  });

  test('a running restore counts as under way even if restores were not read before', () => {
    const { runningRestores, newestRestore, ...unseen } = BEFORE;
    expect(baselineDifferences(unseen, { ...BEFORE, runningRestores: [5] })).toEqual([
      'restore 5 is under way',
    ]);
    expect(baselineDifferences(unseen, BEFORE)).toEqual([]);
  });
});

test('a target has changed if anything but the time of its last change differs', () => {
  const before: TargetIdentity = {
    instanceId: '9',
    updatedAt: '2026-03-01T00:00:00Z',
    state: 'available',
    backups: 0,
    restores: 0,
    runningTasks: [],
    boundApps: [],
  };
  expect(targetDifferences(before, { ...before, updatedAt: '2026-03-01T00:09:00Z' })).toEqual([]);
  expect(targetDifferences(before, { ...before, state: 'deploying', boundApps: ['shop'] })).toEqual([
    'state: deploying, was available',
    'bound applications: shop, was none',
  ]);
});
