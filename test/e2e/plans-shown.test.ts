import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'vitest';
import { useQuickBenches } from '../bench-kit/test-bench.ts';
import { until } from '../bench-kit/until.ts';
import { openPlanBench } from '../plans/plan-bench.ts';

interface ShownPlan {
  readonly runId: string;
  readonly status: string;
  readonly leftBecause?: string;
  readonly groups: readonly { readonly id: string; readonly state: string }[];
  readonly lanes: readonly { readonly state: string; readonly step?: string }[];
}

describe.concurrent('the run of a plan', () => {
  const bench = useQuickBenches();

  test('shows every group in every phase, and takes decisions about the checks of health and the last steps', async (context) => {
    const { expect } = context;
    const { plan, run, good } = await openPlanBench((options) => bench(context, options), 1);
    plan(
      'ends',
      `groups: [{ id: go, for: { instances: [db-1] }, steps: [{ id: look, check: { command: ['true'] } }] }]
healthy: [{ command: ['false'] }]
finally: { steps: [{ id: tidy, manual: { do: tidy up } }] }
`,
    );
    expect((await run('plans', 'run', 'ends')).code).toBe(3);
    const shown = async () => JSON.parse(await good('plans', 'show', 'last', '--json')) as ShownPlan;
    expect(await shown()).toMatchObject({
      groups: [
        { id: 'go', state: 'done' },
        { id: 'healthy', state: 'running' },
        { id: 'finally', state: 'waiting' },
      ],
      lanes: [
        { group: 'go', instance: 'db-1', state: 'done' },
        { group: 'healthy', state: 'failing', step: 'healthy-1' },
        { group: 'finally', state: 'later' },
      ],
    });
    const early = await run('plans', 'done', 'last', 'finally/tidy', '--proof', 'it is tidy');
    expect([early.code, early.stderr]).toEqual([
      2,
      expect.stringContaining('group finally has not begun: it begins when what comes before it is over'),
    ]);
    await good('plans', 'skip', 'last', 'healthy/healthy-1', '--reason', 'it is checked by hand');
    const { runId } = await shown();
    const start = run('resume', runId);
    await until(async () =>
      (await shown()).lanes.some(({ state, step }) => state === 'waiting' && step === 'tidy'),
    );
    await good('plans', 'done', runId, 'finally/tidy', '--proof', 'it is tidy');
    await start;
    await until(async () => (await shown()).status !== 'open' || (await run('resume', runId)).code === 1);
    const { groups, lanes } = await shown();
    expect(groups.map(({ state }) => state)).toEqual(['done', 'done', 'done']);
    expect(lanes.map(({ state }) => state)).toEqual(['done', 'done', 'done']);
  });

  test('says why it stands: what could not begin, and why a group is held, with the commands that answer', async (context) => {
    const { expect } = context;
    const { plan, run, good, folder } = await openPlanBench((options) => bench(context, options), 2);
    plan(
      'west',
      `groups:
  - { id: look, steps: [{ id: count, check: { command: ['true'] } }] }
  - { id: data, for: { instances: [db-1, db-2] }, waves: [1, 1], promote: approve, steps: [{ id: count, check: { command: ['true'] } }] }
  - { id: rest, for: { instances: [db-2], target: db-2-dr }, steps: [{ id: recover, runbook: disaster-recovery, undo: none }] }
`,
    );
    expect((await run('plans', 'run', 'west')).code).toBe(3);
    const config = join(folder, 'lifeboat.yaml');
    writeFileSync(config, readFileSync(config, 'utf8').replaceAll('db-2-dr', 'db-2-gone'));
    const left = await run('resume', 'last', '--confirm', 'rest');
    expect([left.code, left.stderr]).toEqual([3, expect.stringContaining('db-2-dr')]);
    const { runId, groups, leftBecause } = JSON.parse(
      await good('plans', 'show', 'last', '--json'),
    ) as ShownPlan;
    expect(leftBecause).toContain('first db-2 recover: ');
    expect(leftBecause).toContain('db-2-dr');
    const answers = [
      `lifeboat plans resume ${runId} data`,
      `lifeboat plans stop ${runId} data --reason TEXT`,
    ];
    const why = 'held until a person lets the next wave begin';
    expect(groups[1]).toEqual({ id: 'data', state: 'held', why, answers });
    const shown = await good('plans', 'show', runId);
    expect(shown).toContain(`it was left: ${leftBecause}\nto go on: lifeboat resume ${runId}\n`);
    expect(shown).toContain(`  data: ${why}\n    to answer: ${answers[0]}\n    to answer: ${answers[1]}\n`);
  });

  test('is begun with names of groups alone, several of them with commas', async (context) => {
    const { expect } = context;
    const { plan, run, good, entries, performed } = await openPlanBench(
      (options) => bench(context, options),
      2,
    );
    const groups = ['db-1', 'db-2'].map(
      (name) => `{ id: of-${name}, for: { instances: [${name}], target: "{name}-dr" }, steps: [${RECOVER}] }`,
    );
    plan('west', `groups: [${groups.join(', ')}]\n`);
    const misspelt = await run('plans', 'run', 'west', '--confirm', 'of-db-1,of-db2', '--detach');
    expect([misspelt.code, misspelt.stderr]).toEqual([
      2,
      expect.stringMatching(/the plan has no group of-db2\nhint: its groups: of-db-1, of-db-2\n/u),
    ]);
    expect((await entries('run/')).filter(({ body }) => isOfPlan(body))).toEqual([]);
    expect((await run('plans', 'run', 'west')).code).toBe(3);
    expect((await run('resume', 'last', '--confirm', 'of-db-3')).code).toBe(2);
    await good('resume', 'last', '--confirm', 'of-db-1, of-db-2');
    expect(Object.values(performed())).toEqual([1, 1]);
    const { runId } = JSON.parse(await good('plans', 'show', 'last', '--json')) as ShownPlan;
    const reported = JSON.parse(await good('report', 'last', '-o', 'json')) as { run: { id: string } };
    expect(reported.run.id, 'the newest run is a step').toBe(runId);
    const begin = runId.slice(0, 10);
    expect(JSON.parse(await good('plans', 'show', begin, '--json')), 'its steps begin alike').toMatchObject({
      runId,
    });
    expect((await run('audit', 'show', begin.slice(0, 2))).stderr).toContain('there is more than one run');
  });

  test('says that no worker has taken it, where it was left to the workers and none is there', async (context) => {
    const { expect } = context;
    const { plan, good } = await openPlanBench((options) => bench(context, options), 1);
    plan('look', `groups: [{ id: look, steps: [{ id: count, check: { command: ['true'] } }] }]\n`);
    await good('plans', 'run', 'look', '--detach');
    expect(await good('plans', 'show', 'last')).toContain('\nit was left: no worker has taken it yet\n');
  });

  test('names the groups that no worker begins, where it was left to the workers without their names', async (context) => {
    const { expect } = context;
    const { plan, good, run } = await openPlanBench((options) => bench(context, options), 1);
    plan(
      'west',
      `groups:\n  - { id: data, for: { instances: [db-1], target: "{name}-dr" }, steps: [${RECOVER}] }\n`,
    );
    const { code, stderr } = await run('plans', 'run', 'west', '--detach');
    expect([code, stderr]).toEqual([
      0,
      expect.stringMatching(
        /nothing begins before data is confirmed: .*\nto confirm: lifeboat resume \S+ --confirm data\n$/u,
      ),
    ]);
    await good('resume', 'last', '--abandon', 'a test');
    expect((await run('plans', 'run', 'west', '--confirm', 'data', '--detach')).stderr).not.toContain(
      'to confirm',
    );
  });
});

const RECOVER = '{ id: recover, runbook: disaster-recovery, undo: none }';

function isOfPlan(body: unknown): boolean {
  return (body as { readonly runbook?: string }).runbook === 'plan';
}
