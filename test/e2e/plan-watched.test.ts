import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'vitest';
import { personAt } from '../bench-kit/person.ts';
import { hasTerminal } from '../bench-kit/pseudo-terminal.ts';
import { openTerminal } from '../bench-kit/terminal.ts';
import { useQuickBenches } from '../bench-kit/test-bench.ts';
import { until } from '../bench-kit/until.ts';
import { openPlanBench } from '../plans/plan-bench.ts';

describe.skipIf(!hasTerminal()).concurrent('a plan that another process runs, in a real terminal', () => {
  const bench = useQuickBenches();

  /** A plan that is under way until `release`, with a step for a person, and a terminal to look on. */
  const conducted = async (context: TestContext) => {
    const opened = await openPlanBench((options) => bench(context, options), 1);
    const gate = join(opened.folder, 'go-on');
    const waits = `while [ ! -e '${gate}' ]; do sleep 0.1; done`;
    opened.plan(
      'west',
      `groups:
  - { id: gate, steps: [{ id: rest, command: { argv: [sh, -c, "${waits}"], kind: repeatable } }] }
  - { id: people, steps: [{ id: look, manual: { do: look at the board, owner: Bob } }] }
`,
    );
    const driver = opened.start('plans', 'run', 'west');
    const has = (said: string) => until(() => driver.stderr().includes(said));
    await has('people look: waits');
    await has('gate rest');
    const terminal = openTerminal(opened.product, opened, ['watch']);
    context.onTestFinished(() => terminal.close());
    const screen = personAt(terminal, context.expect);
    await screen.shows(/watched plan: 1 question/u);
    return { ...opened, driver, screen, release: () => writeFileSync(gate, '') };
  };

  test('is shown on its own screen from progress to end, and watching writes nothing', async (context) => {
    const { expect } = context;
    const { driver, screen, release, start, entries } = await conducted(context);
    await screen.asks(/you look on: driven by .*process \d+/u);
    await screen.shows('look at the board (Bob)');
    const before = (await entries()).length;
    screen.type('d');
    await screen.asks(/you look on; take it over with lifeboat resume/u);
    // The question opens, and takes no answer.
    screen.type('\r');
    await screen.asks('people, step look');
    screen.type('\r');
    await screen.asks(/people, step look.*you look on; take it over/su);
    expect(await entries()).toHaveLength(before);
    const done = await start('plans', 'done', 'last', 'people/look', '--proof', 'it is green').ended;
    expect(done.code, done.stderr).toBe(0);
    screen.type('\u001b');
    await screen.shows(/people {2}done/u);
    release();
    // What a person did outside is no proof.
    const { code, stderr } = await driver.ended;
    expect(code, stderr).toBe(1);
    await screen.asks('watched plan: over');
    expect(screen.isTaken()).toBe(true);
    screen.type('q');
    await screen.isGivenBack(0);
    expect(screen.text()).toContain('plan west has ended; not everything is done');
  });

  test('shows that no process drives it once its process is killed, and then that it is abandoned', async (context) => {
    const { driver, screen, good } = await conducted(context);
    driver.child.kill('SIGKILL');
    await driver.ended;
    await screen.shows(/you look on: no process drives it now; resume it with: lifeboat resume/u);
    await good('resume', 'last', '--abandon', 'it is done by hand');
    await screen.asks('abandoned: it is done by hand');
    screen.type('q');
    await screen.isGivenBack(0);
  });
});
