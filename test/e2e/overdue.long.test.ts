import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'vitest';
import { statesOf } from '../bench-kit/entries-of.ts';
import { personAt } from '../bench-kit/person.ts';
import { hasTerminal, KEYS } from '../bench-kit/pseudo-terminal.ts';
import { openTerminal } from '../bench-kit/terminal.ts';
import type { TestBench } from '../bench-kit/test-bench.ts';
import { changes, useQuickBenches } from '../bench-kit/test-bench.ts';

const RESTART = ['run', 'change-instance', '--instance', 'orders', '--action', 'restart'] as const;

describe.concurrent('a task that takes longer than it should', { timeout: 600_000 }, () => {
  const bench = useQuickBenches();

  test('is reported once, is left after --patience with exit code 3, and is found done by the resume', async (context) => {
    const { expect } = context;
    const opened = await bench(context, { taskMs: 14_000 });
    promise(opened, '2s');
    const { run, server, entries } = opened;
    const left = await run(...RESTART, '--yes', '--confirm', 'orders', '--patience', '1s');
    expect(left.code, left.stderr).toBe(3);
    expect(left.stderr).toContain('the objective (RTO 2 s) is used up');
    expect(left.stderr).toContain('waiting is safe, and so is leaving');
    expect(left.stderr).not.toContain('look again now');
    const overdue = (await entries()).filter(({ type }) => type === 'activity.overdue');
    expect(overdue.map(({ body }) => body)).toEqual([
      expect.objectContaining({ verb: 'waitForInstance', basis: 'objective', limitSeconds: 10 }),
    ]);
    const resumed = await run('resume', '--yes');
    expect(resumed.code, resumed.stderr).toBe(0);
    expect(changes(server)).toMatchObject({ patches: 1 });
  });

  test.for<readonly [what: string, command: readonly string[]]>([
    ['a run', [...RESTART, '--yes', '--confirm', 'orders']],
    ['a single command', ['instance', 'restart', '--instance', 'orders', '--yes', '--wait']],
  ])('without --patience, %s without a terminal ends the wait by itself', async ([, command], context) => {
    const { expect } = context;
    // The quicker clock is that of a process of its own.
    const opened = await bench(context, { taskMs: 600_000, commandsHere: false });
    const warp = { NODE_OPTIONS: `--import ${join(import.meta.dirname, '../faults/warp.ts')}` };
    Object.assign(opened.env, warp, { FAULTS_SPEED: '150' });
    const left = await opened.run(...command);
    expect(left.code, left.stderr).toBe(3);
    expect(left.stderr).toMatch(/the step has taken .*, which is too long: no finished actions show/u);
    expect(changes(opened.server)).toMatchObject({ patches: 1 });
    expect((await opened.run('runs', '--open')).code).toBe(0);
  });

  test('an invalid --patience starts nothing', async (context) => {
    const { expect } = context;
    const { run, server } = await bench(context);
    const { code, stderr } = await run(...RESTART, '--patience', 'soon');
    expect({ code, stderr }).toMatchObject({ code: 2, stderr: expect.stringContaining('is not a duration') });
    expect(server.calls).toEqual([]);
  });

  test.runIf(hasTerminal())(
    'offers on the screen to look again and to give up, and continues to wait',
    async (context) => {
      const { expect } = context;
      const opened = await bench(context, { taskMs: 600_000 });
      promise(opened, '2s');
      const terminal = openTerminal(opened.product, opened, [...RESTART]);
      context.onTestFinished(() => terminal.close());
      const { asks, shows, type, isGivenBack } = personAt(terminal, expect);
      await asks("type the instance's name");
      type('orders');
      await shows('❯ orders');
      type(KEYS.enter);
      await expect.poll(() => terminal.text(), { timeout: 300_000 }).toContain('look again now');
      expect(terminal.text()).toContain('waiting until the instance is available for more than 10 s');
      await asks('give up waiting');
      type(KEYS.down);
      await shows(/❯ give up waiting/);
      type(KEYS.enter);
      await asks('you gave up waiting for the instance');
      expect(statesOf(await opened.entries()).at(-1)).toBe('available.waitFailed');
      type(KEYS.escape);
      await asks('leave this run?');
      type(KEYS.down);
      await shows('❯ leave');
      type(KEYS.enter);
      await isGivenBack(130);
    },
  );
});

/** Gives the instance an objective that is used up before the waiting begins. */
function promise({ folder }: TestBench, rto: string): void {
  const path = join(folder, 'lifeboat.yaml');
  const yaml = readFileSync(path, 'utf8');
  writeFileSync(path, yaml.replaceAll('inFlight:', `objectives: { rto: ${rto} }\n    inFlight:`));
}
