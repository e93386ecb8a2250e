import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'vitest';
import { useQuickBenches } from '../bench-kit/test-bench.ts';
import { until } from '../bench-kit/until.ts';
import { openPlanBench } from '../plans/plan-bench.ts';

/** Its last steps: a manual one, and one that tells people. */
const LAST = (timeout: string) => `groups: [{ id: go, steps: [{ id: rest, wait: 1s }] }]
finally:
  timeout: ${timeout}
  steps:
    - { id: by-hand, manual: { do: look }, undo: none }
    - { id: tell, notify: { text: the plan has ended } }
`;

describe.concurrent('a plan that waits for a person where none is at a screen', () => {
  const bench = useQuickBenches();

  test('ends with exit code 3 in its last steps too, names the time limit, and leaves the step to be done', async (context) => {
    const { expect } = context;
    const { run, plan } = await openPlanBench((options) => bench(context, options), 1);
    plan('west', LAST('1h'));
    const asked = await run('plans', 'run', 'west');
    expect([asked.code, asked.stderr]).toEqual([
      3,
      expect.stringMatching(/first finally by-hand: look; from .* UTC on, the plan goes on without/u),
    ]);
    const { stdout } = await run('plans', 'show', 'last');
    expect(stdout).toMatch(/by-hand .*look/u);
  });

  test('notifies people at its end even when a person was too late with an earlier step', async (context) => {
    const { expect } = context;
    const { run, plan, folder } = await openPlanBench((options) => bench(context, options), 1);
    const [config, inbox] = [join(folder, 'lifeboat.yaml'), join(folder, 'inbox')];
    const target = `notify:\n  - { name: script, command: [sh, -c, 'cat >> "$1"', sh, ${inbox}] }\n`;
    writeFileSync(config, `${readFileSync(config, 'utf8')}${target}`);
    plan('west', LAST('1s'));
    const asked = await run('plans', 'run', 'west');
    expect(asked.code, asked.stderr).toBe(3);
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    const { code, stderr } = await run('resume', 'last');
    expect(code, stderr).toBe(1);
    expect(readFileSync(inbox, 'utf8')).toContain('the plan has ended');
  });

  test('says that it waits for what may still run on an instance that was taken out, while a process drives it and after', async (context) => {
    const { expect } = context;
    const { start, run, plan, folder } = await openPlanBench((options) => bench(context, options), 2);
    const mark = join(folder, 'begun');
    plan(
      'once',
      `groups: [{ id: go, for: { name: "db-*" }, waves: [1], steps: [{ id: switch, command: { argv: [sh, -c, "touch ${mark}; sleep 600"], kind: once, landed: ['false'], timeout: 11m } }] }]\n`,
    );
    const driver = start('plans', 'run', 'once');
    await until(() => existsSync(mark));
    driver.child.kill('SIGKILL');
    await driver.ended;
    const out = await run('plans', 'take-out', 'last', 'go/db-1', '--reason', 'its owner asked for it');
    expect(out.code, out.stderr).toBe(0);
    const words = 'taken out, and the plan waits until this has ended: running the command: begun at ';
    const again = start('resume', 'last');
    while (!again.stderr().includes(`go db-1 switch: ${words}`))
      await once(again.child.stderr as NodeJS.ReadableStream, 'data');
    const shows = async () => {
      const { lanes } = JSON.parse((await run('plans', 'show', 'last', '--json')).stdout) as {
        readonly lanes: readonly object[];
      };
      expect(lanes).toMatchObject([
        { instance: 'db-1', state: 'at-work', step: 'switch', where: expect.stringContaining(words) },
        { instance: 'db-2', state: 'later' },
      ]);
    };
    await shows();
    again.child.kill('SIGINT');
    expect((await again.ended).code).toBe(130);
    await shows();
  });
});
