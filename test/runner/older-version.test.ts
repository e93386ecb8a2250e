import { describe, expect, test } from 'vitest';
import { findIn, runbookOf, runbooks } from '../../machines/index.ts';
import type { Runbook } from '../../machines/parts/runbook.ts';
import { reportOf } from '../../src/commands/run/run-report.ts';
import { followUpsOfRun } from '../../src/compose/open-follow-ups.ts';
import { findRun } from '../../src/runner/runs.ts';
import { rotateKey1 } from '../machines/rotate-key-1.ts';
import { makeWorld, obedient, reaches } from './world.ts';

/** A run that an older version began, left before the name is typed. */
async function left() {
  const world = await makeWorld(obedient(), rotateKey1);
  const run = await world.takeUp();
  await reaches(run, 'key.choosing');
  await run.answer({ event: 'operator.generate' });
  await reaches(run, 'confirm.asking');
  await run.detach();
  const begun = await findRun(world.journal);
  return { world, begun };
}

describe('a run that an older version of its runbook began', () => {
  const find = findIn([rotateKey1]);

  test('continues with that version to its end, although a newer one exists', async () => {
    const { world, begun } = await left();
    expect([begun.version, runbooks['rotate-key']?.version]).toEqual(['1', '2']);
    const runbook = find(begun.runbook, begun.version) as Runbook;
    const run = await world.takeUp({ runbook });
    await reaches(run, 'confirm.asking');
    await run.answer({ event: 'operator.confirm', typed: 'orders' });
    await run.ended;
    expect(await world.bodies('run.closed')).toMatchObject([{ outcome: 'done', proven: true }]);
    const states = (await world.bodies('event')).map((body) => String((body as { to?: string }).to));
    expect(states.filter((state) => /^(?:oldBackup|negative)\./.test(state))).toEqual([]);
  });

  test('is shown like any other, with its follow-ups and its report', async () => {
    const { world, begun } = await left();
    expect(await followUpsOfRun(world.journal, begun, find)).toEqual([]);
    const report = await reportOf(world.journal, begun, [], find);
    expect(JSON.stringify(report)).toContain(begun.runId);
  });
});

test('that is no longer kept is unknown, so that no run continues with another machine', () => {
  expect(runbookOf('rotate-key', '0')).toBeUndefined();
});
