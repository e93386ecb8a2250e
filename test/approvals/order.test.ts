import { expect, test } from 'vitest';
import { createActor, createMachine } from 'xstate';
import * as z from 'zod';
import type { Question } from '../../machines/parts/question.ts';
import type { Runbook } from '../../machines/parts/runbook.ts';
import { planOfState } from '../../src/commands/approvals/gate-of-run.ts';
import type { LoadedConfig } from '../../src/config/loaded.ts';

const CONFIG = {
  instances: { orders: { url: 'https://a', approval: 'required' } },
} as unknown as LoadedConfig;

/** What a second person is asked to approve at a confirmation with this prompt. */
function planAt(prompt: string) {
  const question = {
    ...{ kind: 'typed-name', event: 'operator.confirm', expected: 'orders', options: [] },
    ...{ prompt, order: 'restore backup 3 into orders' },
  };
  const machine = createMachine({
    id: 'small',
    initial: 'asking',
    states: {
      asking: {
        meta: { title: 'the last look', question: () => question as unknown as Question<never> },
        on: { 'operator.confirm': 'restoring' },
      },
      restoring: {},
    },
  });
  const runbook: Runbook = {
    ...{ id: 'small', title: 'small', version: '1', machine, input: z.unknown() },
    touches: () => ({ source: 'replaced', target: 'none', lost: 'chosen-backup' }),
    ...{ facts: () => [], failure: () => undefined, skipped: () => [] },
    closing: () => ({ outcome: 'done', proven: true, title: 'done', summary: [], deviations: [] }),
  };
  const snapshot = createActor(machine).getSnapshot();
  const run = { runId: 'R1', runbook: 'small', instance: 'orders', version: '1' };
  const state = { ...run, snapshot, entries: [], activity: undefined, paused: undefined };
  return planOfState(CONFIG, runbook, run)(state);
}

test.each([
  "type the instance's name to restore backup 3 into orders",
  'type its name to restore backup 3 into orders all the same',
  'the name of the instance, please: backup 3 goes into orders',
  'it has changed (type its name to drop it): type its name to restore backup 3 into orders all the same',
])('what is approved is the order in the question, however the question asks for it: %s', (prompt) => {
  expect(planAt(prompt)).toMatchObject({ prompt, order: 'restore backup 3 into orders' });
});
