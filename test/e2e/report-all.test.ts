import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'vitest';
import { Estate } from '../../src/report/estate.ts';
import { sitDown } from '../bench-kit/person.ts';
import { builtProduct } from '../bench-kit/product.ts';
import { hasTerminal } from '../bench-kit/pseudo-terminal.ts';
import { useQuickBenches } from '../bench-kit/test-bench.ts';

describe.concurrent('a report on all instances', () => {
  const bench = useQuickBenches();

  test('covers every instance of the config, also those without a run, in every form', async (context) => {
    const { expect } = context;
    const { run, rotate, folder } = await bench(context);
    expect((await rotate()).code).toBe(0);
    const asked = await run('report', '--all', '-o', 'json');
    expect(asked.code, asked.stderr).toBe(0);
    const { instances } = Estate.parse(JSON.parse(asked.stdout));
    expect(instances.map(({ name }) => name)).toEqual(expect.arrayContaining(['orders', 'orders-dr']));
    const orders = instances.find(({ name }) => name === 'orders');
    expect(orders).toMatchObject({ isConfigured: true, runs: [{ runbook: 'rotate-key', result: 'proven' }] });
    expect(orders?.proven?.key).toBe(orders?.key?.fingerprint);
    const page = join(folder, 'all.html');
    expect((await run('report', '--all', '--format', 'html', '--out', page)).code).toBe(0);
    expect(readFileSync(page, 'utf8')).toContain('All instances, ');
    expect((await run('report', '--all', '--out', page)).code).toBe(2);
    expect(existsSync(page)).toBe(true);
    expect((await run('report', '--all', 'last')).stderr).toContain('names no run');
  });

  test.skipIf(!hasTerminal())('counts the runs that it has read, in a terminal', async (context) => {
    const { bench, open } = await sitDown(builtProduct({ cheapVault: true }), context);
    context.expect((await bench.rotate()).code).toBe(0);
    const screen = open('report', '--all');
    await screen.shows('All instances, ');
    context.expect(screen.bytes()).toContain('read 1 run\r');
    context.expect(screen.text()).not.toContain('read 1 run');
    const { stderr } = await bench.run('report', '--all');
    context.expect(stderr).not.toContain('read');
  });
});
