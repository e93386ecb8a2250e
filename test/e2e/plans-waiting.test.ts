import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'vitest';
import { useQuickBenches } from '../bench-kit/test-bench.ts';
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
});
