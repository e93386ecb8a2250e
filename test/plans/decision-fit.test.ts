import { describe, expect, test } from 'vitest';
import { type AnyMachineSnapshot, initialTransition, transition } from 'xstate';
import { PlanFile, type PlanInput } from '../../machines/parts/plan.ts';
import type { PlanEvent } from '../../machines/parts/plan-events.ts';
import { planMachine } from '../../machines/plan.ts';
import { fitOf, type PlanDecision } from '../../src/plans/decision-fit.ts';
import { resolvePlan } from '../../src/plans/resolve.ts';
import { surroundingsWith } from './surroundings.ts';

/** A plan of two groups, one after the other, after these events. */
function afterEvents(...events: readonly PlanEvent[]) {
  const step = { id: 'look', check: { tcp: 'db:5432' } };
  const plan = PlanFile.parse({
    plan: 'west',
    groups: [
      { id: 'data', for: { role: 'source' }, steps: [step] },
      { id: 'next', after: ['data'], steps: [step] },
    ],
    healthy: [step.check],
    finally: { steps: [step] },
  });
  const { groups } = resolvePlan(plan, surroundingsWith(2));
  const input: PlanInput = { plan, groups, text: '', sha256: 'ab', rehearsal: false, source: 'up' };
  const machine = planMachine(['data', 'next']);
  let [snapshot]: [AnyMachineSnapshot, unknown] = initialTransition(machine, input);
  for (const event of events) [snapshot] = transition(machine, snapshot as never, event);
  return snapshot;
}

const NOT_READY: PlanEvent = {
  type: 'plan.evaluated',
  lanes: [{ group: 'data', lane: 'db-1', problem: 'it could not be asked' }],
};
const LOOK_AGAIN = { type: 'operator.evaluateAgain' } as const;
const LOOKED: PlanEvent = { type: 'plan.evaluated', lanes: [] };
const BEGUN: PlanEvent = { type: 'group.begun', group: 'data' };
const OUT = { type: 'operator.takeOut', group: 'data', lane: 'db-1', text: 'its owner asked' } as const;
const AT = { group: 'data', lane: 'db-1', step: 'look' } as const;
const DONE = { type: 'operator.doneOutside', ...AT, text: 'seen' } as const;
const pause = (group: string) => ({ type: 'operator.pauseGroup', group, text: 'wait' }) as const;
/** The plan was stopped, and its last steps are under way. */
const OVER: readonly PlanEvent[] = [
  LOOKED,
  { type: 'operator.stop', text: 'enough' },
  ...['data', 'next'].map((group) => ({ type: 'group.ended', group, how: 'stopped' }) as const),
];
const stop = (group: string) => ({ type: 'operator.stopGroup', group, text: 'enough' }) as const;

describe('a decision about the run of a plan', () => {
  test.each<[string, readonly PlanEvent[], PlanDecision]>([
    ['a group that runs is paused', [LOOKED, BEGUN], pause('data')],
    [
      'one that is held goes on',
      [LOOKED, BEGUN, pause('data')],
      { type: 'operator.resumeGroup', group: 'data' },
    ],
    ['one that has not begun is stopped', [LOOKED, BEGUN], stop('next')],
    ['an instance is taken out', [LOOKED, BEGUN], OUT],
    ['one that is out is taken up', [LOOKED, BEGUN, OUT], { ...OUT, type: 'operator.takeUp' } as never],
    ['the source goes down', [], { type: 'operator.setSource', source: 'down' }],
    [
      'a last step was done outside',
      [...OVER, { type: 'group.begun', group: 'finally' }],
      { type: 'operator.doneOutside', group: 'finally', lane: '-', step: 'look', text: 'seen' },
    ],
    ['the plan is stopped', [LOOKED, BEGUN], { type: 'operator.stop', text: 'enough' }],
    ['instances that are not ready are looked at again', [NOT_READY], LOOK_AGAIN],
  ])('fits: %s', (_, events, event) => {
    expect(fitOf(afterEvents(...events), event)).toEqual({ is: 'fit' });
  });

  test.each<[string, readonly PlanEvent[], PlanDecision]>([
    ['db-1 is out already: its owner asked', [LOOKED, BEGUN, OUT], OUT],
    ['db-2 is not out', [LOOKED, BEGUN], { type: 'operator.takeUp', group: 'data', lane: 'db-2' }],
    ['data/db-1/look counts as done already: seen', [LOOKED, BEGUN, DONE], DONE],
    ['group data runs already', [LOOKED, BEGUN], { type: 'operator.resumeGroup', group: 'data' }],
    ['group data waits for a person already', [LOOKED, BEGUN, pause('data')], pause('data')],
    ['group data is stopping already', [LOOKED, BEGUN, stop('data')], stop('data')],
    ['the instances are looked at already', [], LOOK_AGAIN],
    ['the instances are looked at already', [NOT_READY, LOOK_AGAIN], LOOK_AGAIN],
    ['the source counts as up already', [], { type: 'operator.setSource', source: 'up' }],
    [
      'the plan is being stopped already',
      [LOOKED, BEGUN, { type: 'operator.stop', text: 'enough' }],
      { type: 'operator.stop', text: 'again' },
    ],
  ])('changes nothing: %s', (why, events, event) => {
    expect(fitOf(afterEvents(...events), event)).toEqual({ is: 'so-already', why });
  });

  test.each<[string, readonly PlanEvent[], PlanDecision]>([
    ['group data has not begun: answer first what the plan asks', [], pause('data')],
    ['group next has not begun: it can be stopped', [LOOKED, BEGUN], pause('next')],
    ['group finally has not begun: it begins when what comes before it is over', [LOOKED], pause('finally')],
    ['group healthy is over: ', OVER, pause('healthy')],
    ['the instances have been looked at: name a step to try it again', [LOOKED], LOOK_AGAIN],
    ['group data is stopping already: it ends when', [LOOKED, BEGUN, stop('data')], pause('data')],
    [
      'group data was stopped already: it takes no decision any more',
      [LOOKED, BEGUN, stop('data'), { type: 'group.ended', group: 'data', how: 'stopped' }],
      OUT,
    ],
  ])('does not fit, and the refusal says what does: %s', (why, events, event) => {
    expect(fitOf(afterEvents(...events), event)).toMatchObject({
      is: 'misfit',
      why: expect.stringContaining(why),
    });
  });
});
