import { expect, onTestFinished, test } from 'vitest';
import { runbooks } from '../../../machines/index.ts';
import type { Runbook } from '../../../machines/parts/runbook.ts';
import { runsReader } from '../../../src/commands/app/loaders.ts';
import { abandonRun, findRun, startRun } from '../../../src/runner/runs.ts';
import type { Journal } from '../../../src/store/journal.ts';
import { openIn } from '../../store/open-in.ts';
import { temporaryHome } from '../../store/temporary-home.ts';

/** A journal in a home of its own, and how often its runs were read. */
async function openHome() {
  const journal = await openIn(temporaryHome());
  onTestFinished(() => journal.close());
  let reads = 0;
  const rows: Journal['rows'] = (...given) => {
    reads += 1;
    return journal.rows(...given);
  };
  return { journal, read: { rows, log: { head: () => journal.log.head() } }, reads: () => reads };
}

const start = (journal: Journal, instance: string) =>
  startRun(journal, {
    runbook: runbooks['restore-backup'] as Runbook,
    instance,
    input: { instance },
    mode: 'LIVE',
    operator: 'tester',
    tool: { name: 'lifeboat', version: '0', node: 'v24' },
  });

test('runs are read again when something was written to the journal, and only then', async () => {
  const { journal, read, reads } = await openHome();
  const runsIn = runsReader();
  expect(await runsIn(read)).toEqual([]);
  const first = await start(journal, 'orders');
  expect(await runsIn(read)).toMatchObject([{ runId: first, status: 'open' }]);
  const before = reads();
  expect(await runsIn(read)).toMatchObject([{ runId: first, status: 'open' }]);
  expect(reads()).toBe(before);
  await abandonRun(journal, await findRun(journal, first), 'not needed');
  const second = await start(journal, 'billing');
  const now = await runsIn(read);
  expect(Object.fromEntries(now.map(({ runId, status }) => [runId, status]))).toEqual({
    [first]: 'abandoned',
    [second]: 'open',
  });
});

test('runs of a log whose head cannot be read are read every time', async () => {
  const { journal, read } = await openHome();
  const runsIn = runsReader();
  const damaged = { ...read, log: { head: () => Promise.reject(new Error('damaged')) } };
  expect(await runsIn(damaged)).toEqual([]);
  const runId = await start(journal, 'orders');
  expect(await runsIn(damaged)).toMatchObject([{ runId }]);
});
