import { once } from 'node:events';
import { describe, test } from 'vitest';
import { useQuickBenches } from '../bench-kit/test-bench.ts';
import { until } from '../bench-kit/until.ts';
import { noFreshBackup, openPlanBench } from '../plans/plan-bench.ts';

const GROUP = (recover: string) => `groups:
  - id: data
    for: { name: "db-*", target: "{name}-dr" }
    steps:
      - { id: recover, runbook: disaster-recovery, undo: none${recover} }
      - { id: seen, check: { command: ["true"] } }
`;

interface Lane {
  readonly instance: string;
  readonly state: string;
  readonly left?: readonly { readonly step: string; readonly runId: string; readonly asks?: string }[];
}

interface Shown {
  readonly runId: string;
  readonly lanes: readonly Lane[];
}

describe.concurrent('a recovery of a plan that asks a question and offers no way to end', () => {
  const bench = useQuickBenches();

  test('is left open where the plan continues after a failure: the plan ends without proof, and says so', async (context) => {
    const { expect } = context;
    const opened = await openPlanBench((options) => bench(context, options), 2, { trouble: noFreshBackup });
    const { run, plan, good, performed } = opened;
    plan('west', GROUP(', onFailure: continue, because: it may wait'));
    const { code, stderr } = await run('plans', 'run', 'west', '--confirm', 'data');
    expect([code, stderr]).toEqual([1, expect.stringContaining('data db-2 seen: done')]);
    expect(performed()).toEqual({ 'db-1-dr': 1, 'db-2-dr': 1 });
    const { runId, lanes } = JSON.parse(await good('plans', 'show', 'last', '--json')) as Shown;
    const [left] = lanes[0]?.left ?? [];
    expect(lanes[0]).toMatchObject({ state: 'failed', left: [{ step: 'recover' }] });
    const toGoOn = `lifeboat resume ${left?.runId}`;
    expect(await good('plans', 'show', runId)).toContain(`left open: data/db-1/recover, run ${left?.runId}`);
    const report = await good('report', runId);
    expect(report).toContain('db-1 in data: left open');
    expect(report).toContain(toGoOn);
    const child = await run('resume', left?.runId ?? '', '--yes');
    expect([child.code, child.stderr]).toEqual([3, expect.stringContaining(`run ${left?.runId}`)]);
  });

  test('keeps its instance waiting when its step is skipped, and names the question; once answered, the plan goes on', async (context) => {
    const { expect } = context;
    const opened = await openPlanBench((options) => bench(context, options), 1, { trouble: noFreshBackup });
    const { run, plan, good, start } = opened;
    plan('west', `${GROUP('')}  - { id: rest, steps: [{ id: rest, wait: 1h }] }\n`);
    const driver = start('plans', 'run', 'west', '--confirm', 'data');
    const says = async (words: string) => {
      while (!driver.stderr().includes(words))
        await once(driver.child.stderr as NodeJS.ReadableStream, 'data');
    };
    await says('data db-1 recover: FAILED');
    const again = await run('plans', 'retry', 'last', 'data/db-1/recover');
    expect([again.code, again.stderr]).toEqual([2, expect.stringContaining('it offers no end')]);
    const skipped = await run('plans', 'skip', 'last', 'data/db-1/recover', '--reason', 'a backup is due');
    expect(skipped.code, skipped.stderr).toBe(0);
    const { lanes } = JSON.parse(await good('plans', 'show', 'last', '--json')) as Shown;
    const child = lanes[0]?.left?.[0]?.runId ?? '';
    expect(lanes[0]).toMatchObject({ state: 'failing', left: [{ asks: expect.stringContaining('backup') }] });
    expect(skipped.stdout).toContain(`data/db-1/recover, run ${child}, asks: `);
    expect(skipped.stdout).toContain(`to answer: lifeboat resume ${child}\n`);
    const skippedAgain = await run(
      'plans',
      'skip',
      'last',
      'data/db-1/recover',
      '--reason',
      'a backup is due',
      '--json',
    );
    expect(JSON.parse(skippedAgain.stdout)).toMatchObject({ changed: false, open: { runId: child } });
    // The process of the plan lets go of it, and sees what becomes of it elsewhere.
    await until(async () => (await run('resume', child, '--abandon', 'backed up by hand')).code === 0);
    await says('data db-1 seen: done');
    driver.child.kill('SIGINT');
    expect((await driver.ended).code).toBe(130);
  });
});
