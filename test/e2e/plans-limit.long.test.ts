import { describe, expect, test } from 'vitest';
import type { Call, Trouble } from '../bench-kit/foreign/call.ts';
import { useQuickBenches } from '../bench-kit/test-bench.ts';
import { isPerform, openPlanBench } from '../plans/plan-bench.ts';

const LIMIT = 2;
const GROUP = `groups:
  - id: data
    for: { name: "db-*", target: "{name}-dr" }
    maxConcurrency: ${LIMIT}
    steps:
      - { id: recover, runbook: disaster-recovery, onFailure: continue, because: a test, undo: none; it stays }
`;

interface Lane {
  readonly instance: string;
  readonly state: string;
}

describe('the limit of a group', () => {
  const bench = useQuickBenches();

  test('also counts a recovery that never arrived and is tried again while others are at work', async (context) => {
    let isLost = false;
    const trouble = (call: Call): Trouble | undefined => {
      if (!isPerform(call)) return undefined;
      if (call.instance !== 'db-1-dr' || isLost) return { answerAfterMs: 4_000 };
      isLost = true;
      return { work: false, answer: 'lost' };
    };
    const made = await openPlanBench((options) => bench(context, options), 5, { trouble });
    made.plan('west', GROUP);
    const { ended } = made.start('plans', 'run', 'west', '--confirm', 'data');
    const lanes = async () =>
      (JSON.parse(await made.good('plans', 'show', 'last', '--json')) as { readonly lanes: readonly Lane[] })
        .lanes;
    const stateOf = async (name: string) => (await lanes()).find(({ instance }) => instance === name)?.state;
    await expect.poll(() => stateOf('db-1'), { timeout: 60_000 }).toBe('waiting');
    await expect
      .poll(async () => (await lanes()).filter(({ state }) => state === 'at-work').length, {
        timeout: 60_000,
      })
      .toBe(LIMIT);
    // The run that is given up for it closes now, and is no work.
    await made.good('plans', 'retry', 'last', 'data/db-1/recover');
    expect((await ended).code).toBe(0);
    expect(Object.values(made.performed())).toEqual([1, 1, 1, 1, 1]);
    expect((await made.mostAtWork())['data']).toBe(LIMIT);
  });
});
