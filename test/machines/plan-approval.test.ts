import { expect, test } from 'vitest';
import { type AnyMachineSnapshot, initialTransition, transition } from 'xstate';
import { PlanFile, type PlanInput } from '../../machines/parts/plan.ts';
import type { PlanEvent } from '../../machines/parts/plan-events.ts';
import { statePath } from '../../machines/parts/states.ts';
import { planMachine } from '../../machines/plan.ts';
import { resolvePlan } from '../../src/plans/resolve.ts';
import { questionOf } from '../../src/runner/answer.ts';
import { surroundingsWith } from '../plans/surroundings.ts';

/** A plan that waits for the approval of two people, with as many instances as the test says. */
function waiting(count = 1) {
  const plan = PlanFile.parse({
    plan: 'west',
    approve: { quorum: 2 },
    groups: [{ id: 'data', for: { role: 'source' }, steps: [{ id: 'look', check: { tcp: 'db:5432' } }] }],
  });
  const { groups } = resolvePlan(plan, { ...surroundingsWith(count), hasApprovers: true });
  const input: PlanInput = { plan, groups, text: '', sha256: 'ab', rehearsal: false, source: 'up' };
  const machine = planMachine(['data']);
  let [snapshot]: [AnyMachineSnapshot, unknown] = initialTransition(machine, input);
  const tell = (event: PlanEvent) => {
    [snapshot] = transition(machine, snapshot as never, event);
    return statePath(snapshot);
  };
  tell({ type: 'plan.evaluated', lanes: [] });
  return { tell, question: () => questionOf(snapshot) };
}

const APPROVE: PlanEvent = { type: 'operator.confirm', typed: 'west' };

test('the start of a plan asks once for each approval, and then goes on', () => {
  const { tell, question } = waiting();
  expect(question()).toMatchObject({ expected: 'west', order: 'start the plan west (approval 1 of 2)' });
  expect(tell(APPROVE)).toBe('approve.asked');
  expect(question()).toMatchObject({ order: 'start the plan west (approval 2 of 2)' });
  expect(tell(APPROVE)).not.toMatch(/^approve/);
});

test('an approval of a start with the source up does not count with the source down', () => {
  const { tell, question } = waiting();
  tell(APPROVE);
  expect(tell({ type: 'operator.setSource', source: 'down' })).toBe('approve.asked');
  expect(question()).toMatchObject({
    order: 'start the plan west (approval 1 of 2)',
    byOthers: { given: 0 },
  });
  expect(question()).toMatchObject({
    byOthers: { shows: expect.arrayContaining(['source: down']) },
  });
});

test('the request for a start names every instance of a large group', () => {
  const question = waiting(100).question();
  const shows = question?.kind === 'typed-name' ? (question.byOthers?.shows ?? []) : [];
  const named = shows.join(' ').match(/db-\d+/g) ?? [];
  expect(shows.length).toBeLessThan(20);
  expect(shows.filter(({ length }) => length > 400)).toEqual([]);
  expect(new Set(named).size).toBe(100);
});
