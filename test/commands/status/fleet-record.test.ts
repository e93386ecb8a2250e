import { expect, test } from 'vitest';
import { runbooks } from '../../../machines/index.ts';
import type { Runbook } from '../../../machines/parts/runbook.ts';
import type { RunbookId } from '../../../machines/parts/touches.ts';
import { readFleetRecord } from '../../../src/compose/fleet-record.ts';
import { appendHolding } from '../../../src/runner/holds.ts';
import { startRun } from '../../../src/runner/runs.ts';
import { openIn } from '../../store/open-in.ts';
import { temporaryHome } from '../../store/temporary-home.ts';

/** Which of the two instances the record says was recovered, after one proven run. */
async function recoveredBy(id: RunbookId, more: { readonly target?: string; readonly mode?: string }) {
  const home = temporaryHome();
  const journal = await openIn(home);
  const { target } = more;
  const runId = await startRun(journal, {
    runbook: runbooks[id] as Runbook,
    instance: 'orders',
    target,
    input: { instance: 'orders', ...more },
    mode: 'LIVE',
    operator: 'tester',
    tool: { name: 'lifeboat', version: '0', node: 'v24' },
  });
  const body = { outcome: 'done', proven: true, summary: [], deviations: [] };
  await appendHolding(journal, [{ stream: `run/${runId}`, type: 'run.closed', body }]);
  await journal.close();
  const record = await readFleetRecord({ env: { LIFEBOAT_HOME: home } }, ['orders', 'orders-dr']);
  return [...record].flatMap(([name, part]) =>
    part.state === 'known' && part.value.recovered !== undefined ? [name] : [],
  );
}

test.each([
  ['restore-backup', {}, ['orders']],
  ['restore-point-in-time', {}, ['orders']],
  ['disaster-recovery', { target: 'orders-dr', mode: 'perform' }, ['orders', 'orders-dr']],
  ['disaster-recovery', { mode: 'prepare' }, []],
  ['disaster-recovery', { target: 'orders-dr', mode: 'prepare' }, []],
  ['rotate-key', {}, []],
] as const)('a proven %s %j is the recovery of %j', async (id, more, recovered) => {
  expect(await recoveredBy(id, more)).toEqual(recovered);
});
