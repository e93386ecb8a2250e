import { expect, test } from 'vitest';
import { workersCheck } from '../../../src/commands/doctor/doctor.ts';
import type { QueueDepth, WorkerRow } from '../../../src/queue/queue.ts';
import type { RunProgress } from '../../../src/store/projections/runs.ts';

const at = new Date('2026-03-10T12:00:00Z');
const run = { runId: 'R1', status: 'open', isForWorkers: true, isLeft: true } as RunProgress;
const FREE = { count: 1, looked: [{ run, holder: undefined }] };
const WAITS = { count: 1, looked: [{ run: { ...run, awaits: 'person' } as RunProgress, holder: undefined }] };
const DEPTH: QueueDepth = { ready: 0, later: 0, active: 0, oldest: undefined };
const queueWith = (...states: readonly WorkerRow['state'][]) => {
  const workers = states.map((state, pid): WorkerRow => {
    return { host: 'a', pid, label: '', since: at, seen: at, state };
  });
  return { value: { workers, depth: DEPTH } };
};

test.each([
  [queueWith('live', 'gone'), 'ok', '1 open run left to the workers, 1 live', []],
  [
    queueWith('gone', 'stopped'),
    'warn',
    '1 open run left to the workers, and no worker is live',
    ['start one: `lifeboat worker`'],
  ],
  [
    { code: 'queue.none', why: 'there is none' },
    'warn',
    '1 open run left to the workers, and the store has no queue',
    ['make it: `lifeboat store init`', 'then start one: `lifeboat worker`'],
  ],
  [
    { code: 'answer.late', why: 'no answer within 3 s' },
    'warn',
    '1 open run left to the workers, and the queue cannot be asked: no answer within 3 s',
    [],
  ],
] as const)('runs left to a team of workers: %j is %s', (queue, state, found, hints) => {
  const check = { what: 'workers', state, found, ...(hints.length > 0 || state === 'warn' ? { hints } : {}) };
  expect(workersCheck(FREE, queue)).toEqual([expect.objectContaining(check)]);
});

test('in a home without a team, a run that may go on and that no process holds is reported, but not one that waits', () => {
  expect(workersCheck(FREE, undefined)).toMatchObject([
    { state: 'warn', found: '1 open run left to the workers, and no process holds 1 that may go on' },
  ]);
  expect(workersCheck(WAITS, undefined)).toMatchObject([
    { state: 'ok', found: '1 open run left to the workers' },
  ]);
});
