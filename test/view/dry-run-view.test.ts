import { expect, test } from 'vitest';
import { runbooks } from '../../machines/index.ts';
import { plannedSteps } from '../../src/view/dry-run-view.ts';
import { followUpRunbook } from './follow-up-runbook.ts';

test('a dry run names each call with its instance, what it needs, what stays for ever and the way back', () => {
  const steps = plannedSteps(followUpRunbook, { instance: 'orders', target: 'orders-dr' });
  expect(steps.map(({ state }) => state)).toEqual(['looking', 'openFollowUps', 'restoring', 'rebinding']);
  expect(steps[2]).toEqual({
    state: 'restoring',
    step: 'restoring',
    title: 'restore it',
    calls: [
      {
        method: 'POST',
        on: 'orders-dr',
        path: '/restores',
        what: 'the restore',
        changes: true,
        needs: 'the name was typed',
        forever: 'what is there now is overwritten',
      },
      { method: 'GET', on: 'orders-dr', path: '/restores', what: 'what became of it', changes: false },
    ],
    does: [],
    changes: true,
    destructive: true,
    wayBack: 'restore the backup that was taken before',
  });
});

test('a dry run shows what the operator is asked, what only reads, and what happens at the platform', () => {
  const [look, ask, , rebind] = plannedSteps(followUpRunbook, { instance: 'orders' });
  expect(look).toMatchObject({
    calls: [{ on: 'orders', method: 'GET' }],
    changes: false,
    destructive: false,
  });
  expect(ask).toMatchObject({ asks: 'what now', calls: [], changes: false });
  expect(rebind).toMatchObject({ does: ['platform: unbind, bind and restage'], changes: true });
});

test('a dry run can begin part of the way, and a target without a name is called the target', () => {
  const steps = plannedSteps(followUpRunbook, { instance: 'orders' }, ['restoring', 'gone']);
  expect(steps.map(({ calls }) => calls[0]?.on)).toEqual(['the target']);
});

test.each(Object.values(runbooks).map((runbook) => [runbook.id, runbook] as const))(
  'the dry run of %s gives the way back for every call that changes something',
  (_id, runbook) => {
    const steps = plannedSteps(runbook, { instance: 'orders', target: 'orders-dr' });
    expect(steps.length).toBeGreaterThan(3);
    for (const { calls, state, wayBack } of steps)
      if (calls.some(({ changes }) => changes))
        expect([state, wayBack]).toEqual([state, expect.stringMatching(/\w/u)]);
  },
);
