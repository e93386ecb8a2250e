import { expect, test } from 'vitest';
import { runbooks } from '../../machines/index.ts';
import type { Runbook } from '../../machines/parts/runbook.ts';
import { autopilot } from '../../src/commands/run/autopilot.ts';
import { makeWorld, obedient, reaches } from './world.ts';

const SECOND = 1000;
const BEGAN = Date.parse('2026-03-01T00:00:00Z');
/** Within the range, and within a second of where it begins. */
const AT_THE_EDGE = new Date(BEGAN + SECOND / 2).toISOString();

/** A service whose range grows with each look, as it does while it takes orders. */
function restoringInTime(margin: number) {
  let looks = 0;
  const at = (ms: number) => new Date(BEGAN + ms).toISOString();
  const range = () => {
    looks += 1;
    const end = (60 + looks) * SECOND;
    return {
      start: at(0),
      end: at(end),
      earliest: at(margin),
      latest: at(end - SECOND),
      readAt: at(end),
      aheadSeconds: undefined,
    };
  };
  const pitrRange = { kind: 'read' as const, run: async () => ({ ok: true as const, output: range() }) };
  return makeWorld(obedient({ pitrRange }), runbooks['restore-point-in-time'] as Runbook);
}

test('a run without a person stops when its time is close to an edge of a growing range, and says so', async () => {
  const world = await restoringInTime(SECOND);
  const run = await world.takeUp();
  const { exitCode, why } = await autopilot(run, { yes: true, time: AT_THE_EDGE });
  expect(why).toContain(`${AT_THE_EDGE} is close to an edge of the range`);
  expect(exitCode).toBe(3);
  expect((await world.types()).filter((type) => type === 'answer')).toHaveLength(1);
});

test('a time that is no longer valid is not given again: the run asks for another one, and is left', async () => {
  const world = await restoringInTime(SECOND);
  const run = await world.takeUp();
  const first = { event: 'operator.lookAgain' };
  const reached = reaches(run, 'choose.nearEdge');
  await reaches(run, 'choose.asking');
  await run.answer({ event: 'operator.chooseTime', time: AT_THE_EDGE });
  await reached;
  const { why } = await autopilot(run, { yes: true, time: AT_THE_EDGE, first });
  expect(why).toContain(`${AT_THE_EDGE} is close to an edge of the range`);
  expect((await world.types()).filter((type) => type === 'answer')).toHaveLength(3);
});
