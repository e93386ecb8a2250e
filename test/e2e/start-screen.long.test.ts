import { describe, type TestContext, test } from 'vitest';
import { type LabBench, useLabs } from '../bench-kit/lab-bench.ts';
import { personAt } from '../bench-kit/person.ts';
import { hasTerminal, KEYS } from '../bench-kit/pseudo-terminal.ts';
import { openTerminal } from '../bench-kit/terminal.ts';

/** What would change the data of the instance. */
const RESTORES = ['orders POST /backups/:id/restore', 'orders POST /pitr/restore'];

describe.runIf(hasTerminal())('a run that is started from the screen', { timeout: 2_400_000 }, () => {
  const open = useLabs();

  test('rows were deleted: the screen asks when, suggests a moment before that, and starts the run with both times', async (context) => {
    const { expect } = context;
    const bench = await open(context);
    await expect.poll(() => reachedSeconds(bench), { timeout: 600_000 }).toBeGreaterThan(12);
    const screen = sitDown(context, bench);
    await screen.asks('what has happened');
    screen.type(KEYS.down);
    await screen.asks(/❯ rows were deleted/u);
    screen.type(KEYS.enter);
    await screen.asks('when did it happen?');
    screen.type('1 second ago');
    await screen.asks(/✓ \d{4}-\d\d-\d\d \d\d:\d\d:\d\d /u);
    screen.type(KEYS.enter);
    await screen.asks(/before it happened/u);
    screen.type(KEYS.enter);
    await screen.asks('everything that the instance holds now is replaced');
    expect(screen.text()).toContain('what was written after');
    screen.type(KEYS.enter);
    await screen.asks('── question ─');
    expect(screen.text()).not.toContain('cannot be reached');
    const input = await inputOf(bench);
    expect(Object.keys(input)).toEqual(expect.arrayContaining(['time', 'incidentAt']));
    expect(Date.parse(String(input['time']))).toBeLessThan(Date.parse(String(input['incidentAt'])));
    for (const call of RESTORES) expect(bench.did()).not.toContain(call);
  });

  test('the region is gone: the target is offered, and the run asks what to recover', async (context) => {
    const { expect } = context;
    const bench = await open(context);
    await bench.lab.disaster('orders', true);
    const screen = sitDown(context, bench);
    await screen.asks(/❯ the instance or its region is gone/u);
    screen.type(KEYS.enter);
    await screen.asks(/❯ orders-dr/u);
    screen.type(KEYS.enter);
    await screen.asks(/❯ the newest/u);
    screen.type(KEYS.enter);
    await screen.asks('when did it happen?');
    screen.type(KEYS.enter);
    await screen.asks('what it finds now');
    expect(screen.text()).toContain('this run changes orders-dr with the data of orders');
    expect(screen.text()).toContain('everything that the target holds now is replaced');
    screen.type(KEYS.enter);
    await screen.asks('no recovery card of orders is on record');
    expect(await inputOf(bench)).toMatchObject({
      instance: 'orders',
      target: 'orders-dr',
      mode: 'perform',
      rehearsal: true,
    });
    expect(bench.did().filter((call) => call.startsWith('orders-dr '))).toEqual([]);
  });
});

/** Bare `lifeboat`, and the key that starts something on the first instance. */
function sitDown(context: TestContext, bench: LabBench) {
  const terminal = openTerminal(bench.product, bench, []);
  context.onTestFinished(() => terminal.close());
  const person = personAt(terminal, context.expect);
  let isOpen = false;
  const asks = async (wanted: string | RegExp) => {
    if (!isOpen) {
      await person.asks(/❯ +orders/u);
      terminal.type('s');
      isOpen = true;
    }
    await person.asks(wanted);
  };
  return { ...person, asks };
}

/** How much of the past can be brought back. */
async function reachedSeconds({ good }: LabBench): Promise<number> {
  const { answer } = JSON.parse(await good('pitr', 'show', '-i', 'orders', '-o', 'json'));
  return (Date.parse(answer.end_time) - Date.parse(answer.start_time)) / 1000;
}

/** What the only run was begun with. */
async function inputOf(bench: LabBench): Promise<Readonly<Record<string, unknown>>> {
  const [started] = (await bench.entries('run/')).filter(({ type }) => type === 'run.started');
  return (started?.body as { readonly input?: Readonly<Record<string, unknown>> })?.input ?? {};
}
