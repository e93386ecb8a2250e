import { describe, expect, test, vi } from 'vitest';
import { useLabs } from '../bench-kit/lab-bench.ts';
import { hasTerminal, KEYS, type Terminal } from '../bench-kit/pseudo-terminal.ts';
import { openTerminal } from '../bench-kit/terminal.ts';

describe.runIf(hasTerminal())('the screen of a lab in the real program', { timeout: 2_400_000 }, () => {
  const openLab = useLabs();

  test('takes an instance away, which the board shows, and brings it back above a waiting run', async (context) => {
    const bench = await openLab(context, { sampleApp: { rowsPerSecond: 0 } });
    const terminal = openTerminal(bench.product, bench, []);
    context.onTestFinished(() => terminal.close());
    await shows(terminal, /L lab/u);
    terminal.type('L');
    await shows(terminal, /LAB +a simulator on this machine.*orders +running/su);
    terminal.type('l');
    await shows(terminal, /❯ orders +LOST/u);
    await expect(bench.query('orders')('select 1')).rejects.toThrow();
    terminal.type(KEYS.escape);
    await shows(terminal, /all instances/u);

    const run = openTerminal(bench.product, bench, ['run', 'rotate-key', '--instance', 'orders']);
    context.onTestFinished(() => run.close());
    await shows(run, /502|cannot be reached|no proper answer/u);
    run.type('\u000b');
    await shows(run, /find anything/u);
    run.type('break things');
    await shows(run, /❯ lab/u);
    run.type(KEYS.enter);
    await shows(run, /❯ orders +LOST/u);
    run.type('b');
    await shows(run, /❯ orders +running/u);
    run.type(KEYS.escape);
    await shows(run, /rotate the encryption key/u);
    await expect(bench.query('orders')('select 1')).resolves.toBeDefined();
    expect(bench.did()).toEqual([]);
  });
});

async function shows(terminal: Terminal, wanted: RegExp): Promise<void> {
  await vi.waitFor(() => expect(terminal.text()).toMatch(wanted), { timeout: 600_000, interval: 50 });
}
