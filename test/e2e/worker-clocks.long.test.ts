import { afterAll, expect, test } from 'vitest';
import type { Running } from '../bench-kit/product.ts';
import { useQuickBenches } from '../bench-kit/test-bench.ts';
import { closeDatabases, freshDatabase } from '../crash/database.ts';
import { describeWith } from '../keys/programs.ts';
import { openPlanBench } from '../plans/plan-bench.ts';
import { fakeClock } from '../store/faked-clock.ts';

const GROUP = `groups:
  - id: data
    for: { name: "db-*", target: "{name}-dr" }
    waves: ["100%"]
    maxConcurrency: 2
    steps: [{ id: recover, runbook: disaster-recovery, undo: none; the source stays }]
`;

/** For a poll that runs a command each time: without a pause it takes the core that the workers need. */
const PATIENTLY = { timeout: 300_000, interval: 500 };
const HOUR = 3_600;

interface Workers {
  readonly items: readonly { readonly pid: number; readonly state: string }[];
}

describeWith(['faketime'], 'workers whose clocks are two hours apart', () => {
  const bench = useQuickBenches();
  afterAll(closeDatabases);

  test('are both alive throughout and run a plan together: each call once, within its limit', async (context) => {
    const database = await freshDatabase();
    context.onTestFinished(() => database.drop());
    const made = await openPlanBench((options) => bench(context, options), 6, { store: database.address });
    const { good, start, startUnder } = made;
    await good('store', 'init');
    made.plan('west', GROUP);
    const clock = fakeClock(made);
    const begun = async (running: Running) => {
      await expect.poll(() => running.stderr()).toContain('takes runs');
      return running;
    };
    // One whose clock jumps by two hours and back while it works, as at a change of daylight saving time.
    const jumping = await begun(startUnder(clock.under, 'worker'));
    const right = await begun(start('worker'));
    const states = async () => (JSON.parse(await good('workers', '--json')) as Workers).items;
    await good('plans', 'run', 'west', '--confirm', 'data', '--detach');
    const seen = new Set<string>();
    let jumps = 0;
    await expect
      .poll(async () => {
        clock.set(jumps % 2 === 0 ? `+${HOUR}s` : `-${HOUR}s`);
        jumps += 1;
        for (const { state } of await states()) seen.add(state);
        return (JSON.parse(await good('plans', 'show', 'last', '--json')) as { status: string }).status;
      }, PATIENTLY)
      .toBe('closed');
    expect(jumps).toBeGreaterThan(1);
    expect([...seen]).toEqual(['live']);
    expect(Object.values(made.performed())).toEqual([1, 1, 1, 1, 1, 1]);
    expect((await made.mostAtWork())['data']).toBeLessThanOrEqual(2);
    const entries = await made.entries();
    for (const { at } of entries) expect(Math.abs(Date.parse(at) - Date.now())).toBeLessThan(HOUR * 500);
    for (const { child, ended } of [jumping, right]) {
      child.kill('SIGTERM');
      expect((await ended).code).toBe(0);
    }
  });
});
