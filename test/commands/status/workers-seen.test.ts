import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { metricsText } from '../../../src/commands/status/metrics-text.ts';
import { seeWorkers, statusOf } from '../../../src/commands/worker/workers-seen.ts';
import { SCHEMA } from '../../../src/queue/boss-schema.ts';
import type { QueueDepth, WorkerRow } from '../../../src/queue/queue.ts';
import { drillDue } from '../../../src/report/drill/drill-report.ts';
import type { RunProgress } from '../../../src/store/projections/runs.ts';
import { workersLines } from '../../../src/view/fleet/workers-words.ts';
import { startCluster } from '../../bench-kit/postgres.ts';
import { until } from '../../bench-kit/until.ts';
import { freshBoss } from '../../queue/boss-under-test.ts';
import { recorder, working } from '../../queue/queue-under-test.ts';
import { parseMetrics } from './openmetrics.ts';

const cluster = await startCluster();
afterAll(() => cluster.remove());

const at = new Date('2026-03-10T12:00:00Z');
const minutesAgo = (minutes: number) => new Date(at.getTime() - minutes * 60_000);

const row = (pid: number, state: WorkerRow['state']): WorkerRow => {
  return { host: 'a', pid, label: '', since: minutesAgo(9), seen: minutesAgo(1), state };
};
const DEPTH: QueueDepth = { ready: 2, later: 1, active: 0, oldest: minutesAgo(3) };

const left = (runId: string, more: Partial<RunProgress> = {}) =>
  ({ runId, status: 'open', isForWorkers: true, isLeft: true, ...more }) as RunProgress;
const heldBy = (pid: number) => ({ host: 'a', pid, since: at.toISOString(), isHere: false });

const LEFT = {
  count: 3,
  looked: [
    { run: left('R1'), holder: heldBy(1) },
    { run: left('R2'), holder: undefined },
    { run: left('R3', { awaits: 'person' }), holder: undefined },
  ],
};

const contextOf = (address: string) => {
  const home = mkdtempSync(join(tmpdir(), 'lifeboat-seen-'));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  return { env: { ...process.env, LIFEBOAT_HOME: home, LIFEBOAT_STORE: address } };
};

test('a run counts for the worker that holds it, and as unheld only if it may go on', () => {
  const workers = [row(1, 'live'), row(1, 'gone'), row(2, 'stopped')];
  const seen = statusOf({ value: { workers, depth: DEPTH } }, { value: LEFT }, at);
  expect(seen.items.map(({ state, holds }) => [state, holds])).toEqual([
    ['live', 1],
    ['gone', 0],
    ['stopped', 0],
  ]);
  expect(seen.runs).toEqual({ left: 3, unheld: ['R2'] });
  expect(workersLines(seen)).toEqual([
    'workers: 1 live, 1 gone',
    'queue: 2 ready, the oldest for 3m, 1 for later',
    'left to workers: 3 open runs; 1 may go on, and nobody holds it',
  ]);
});

test('the metrics have the workers by state and the queue, and nothing of a queue that did not answer', () => {
  const textOf = (workers: ReturnType<typeof statusOf>) =>
    parseMetrics(metricsText({ at, instances: [], plans: [], drills: drillDue([], undefined, at), workers }))
      .filter(({ name }) => /workers|queue/u.test(name))
      .map(({ name, labels, value }) => [name, labels['state'], value]);
  const value = { workers: [row(1, 'live'), row(2, 'gone')], depth: DEPTH };
  expect(textOf(statusOf({ value }, { value: LEFT }, at))).toEqual([
    ['lifeboat_workers', 'live', 1],
    ['lifeboat_workers', 'stopped', 0],
    ['lifeboat_workers', 'gone', 1],
    ['lifeboat_queue_ready', undefined, 2],
    ['lifeboat_queue_oldest_seconds', undefined, 180],
  ]);
  expect(textOf(statusOf({ code: 'queue.none', why: 'there is none' }, { value: LEFT }, at))).toEqual([]);
});

test('a cause is reported once, however much is unknown because of it', () => {
  const [queue, runs] = [{ of: 'queue' as const }, { of: 'runs' as const }];
  const trouble = (why: string) => ({ code: 'journal.refused', why });
  const same = [queue, runs].map((one) => ({ ...one, ...trouble('nobody is let in') }));
  expect(workersLines({ items: [], troubles: same })).toEqual(['workers: not known: nobody is let in']);
  const both = [
    { ...queue, ...trouble('there is none') },
    { ...runs, ...trouble('nobody is let in') },
  ];
  expect(workersLines({ items: [], troubles: both })).toEqual([
    'workers: not known: there is none',
    'left to workers: not known: nobody is let in',
  ]);
});

test('a live worker of the team is listed, and a dropped queue is a line of text and not a failure', async () => {
  const boss = await freshBoss(cluster);
  const context = contextOf(boss.address);
  working(boss, recorder());
  await until(async () => (await seeWorkers(context))?.items.length === 2);
  const seen = await seeWorkers(context);
  expect(seen).toMatchObject({ queue: { ready: 0 }, runs: { left: 0, unheld: [] }, troubles: [] });
  expect(seen?.items.map(({ state, pid }) => [state, pid])).toEqual([
    ['live', process.pid],
    ['live', process.pid],
  ]);
  await Promise.all(boss.queues.map((queue) => queue.stop(0)));
  await boss.sql(`drop schema ${SCHEMA} cascade`);
  const without = await seeWorkers(context);
  expect(without).toMatchObject({ items: [], troubles: [{ of: 'queue', code: 'queue.none' }] });
});

test('a database that does not answer is reported, for the queue and for the runs', async () => {
  const seen = await seeWorkers(contextOf('postgres://ada@127.0.0.1:1/lifeboat'));
  expect(seen?.troubles.map(({ of }) => of)).toEqual(['queue', 'runs']);
});

test('a home with a SQLite store has no workers of a team', async () => {
  expect(await seeWorkers(contextOf('sqlite'))).toBeUndefined();
});
