import { expect, test } from 'vitest';
import type { RunContext } from '../../machines/context.ts';
import { runbooks } from '../../machines/index.ts';
import type { Closing } from '../../machines/parts/runbook.ts';
import type { PlanContext } from '../../machines/plan.ts';
import { planRunbook } from '../../machines/plan-runbook.ts';
import { outcomesOf } from './outcomes.ts';
import { startingContext } from './starting-context.ts';

type Verified = NonNullable<RunContext['proof']['verification']>;
const [verified] = outcomesOf('verifyBackup');
const verification = (verified as unknown as { readonly output: Verified }).output;

const backup = { id: 4, status: 'done' };
const task = { intents: 1, absences: 0, send: { is: 'landed' as const, id: 4, adopted: false } };
/** What a run knows at an end that proves it. */
const proven = {
  'rotate-key': { backup: { ...task, backup }, record: { isProven: true } },
  'back-up-and-verify': { backup: { ...task, backup }, proof: { verification } },
};

const closingOf = (runbook: keyof typeof proven, more: Partial<RunContext> = {}): Closing | undefined =>
  runbooks[runbook]?.closing(
    { ...startingContext({ instance: 'orders' }, runbook), ...proven[runbook], ...more } as never,
    'done',
  );

const SIMULATED = {
  proven: false,
  simulated: true,
  outcome: 'done',
  title: expect.stringContaining('nothing is proven'),
};

test.for(['rotate-key', 'back-up-and-verify'] as const)(
  'a run of %s that would be proven by its evidence proves nothing on a simulated service',
  (runbook) => {
    expect(closingOf(runbook)).toMatchObject({ proven: true });
    expect(closingOf(runbook)).not.toHaveProperty('simulated');
    const seen = { backup: { ...task, backup: { ...backup, simulated: true as const } } };
    expect(closingOf(runbook, seen)).toMatchObject(SIMULATED);
    const ready = { available: { ready: { state: 'available', simulated: true as const } } };
    expect(closingOf(runbook, ready)).toMatchObject(SIMULATED);
    const restored = { restore: { ...task, restore: { ...backup, simulated: true as const } } };
    expect(closingOf(runbook, restored)).toMatchObject(SIMULATED);
  },
);

test('a run that is not proven anyway keeps its wording', () => {
  const seen = {
    backup: { ...task, backup: { ...backup, simulated: true as const } },
    record: { isProven: false },
  };
  expect(closingOf('rotate-key', seen)).toMatchObject({
    outcome: 'done-unproven',
    proven: false,
    simulated: true,
    title: 'closed without proof: the new key is not shown to work',
  });
});

test('the run of a plan is proven only where no step of it ran on a simulated service', () => {
  const groups = { done: 3, failed: 0, notRun: 0 };
  const closing = (results: PlanContext['results']) =>
    planRunbook.closing(
      { input: { plan: { plan: 'west' }, groups: [] }, groups: {}, results } as unknown as never,
      'done',
    );
  expect(closing([{ group: 'data', ...groups }])).toMatchObject({ outcome: 'done', proven: true });
  expect(closing([{ group: 'data', ...groups, simulated: 1 }])).toMatchObject(SIMULATED);
});
