import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, test } from 'vitest';
import { type LabBench, useLabs } from '../bench-kit/lab-bench.ts';
import { itemsIn } from '../bench-kit/results.ts';

describe('what a recovery depends on besides the service', () => {
  const bench = useLabs();

  test('is checked by doctor before it is needed, which changes nothing', async (context) => {
    const { expect } = context;
    const opened = await bench(context, {
      config: (yaml) =>
        `runbooks: ./texts\n${yaml.replace(/^(\s+)role: target$/m, "$&\n$1reconcile: { command: 'exit 7' }")}`.replace(
          // Only one reconciliation may stand there, and the target's is to fail.
          /(role: target\n\s+reconcile: .*\n(?:.*\n)*?)\s+reconcile: .*\n/,
          '$1',
        ),
    });
    const texts = join(dirname(opened.home), 'texts');
    mkdirSync(texts);
    writeFileSync(join(texts, 'disaster-recovery.md'), '## Call Robin\n<!-- state: confirming -->\n112\n');
    const checks = await checksOf(opened);
    expect(checks.get('platform')).toMatchObject({ state: 'ok' });
    expect(checks.get('platform')?.found).toMatch(/Cloud Foundry at .*the first instance has 2 bound apps/);
    expect(checks.get('orders: reconcile')).toMatchObject({ state: 'ok' });
    expect(checks.get('orders: reconcile')?.found).toMatch(/^newest \d{4}-.*Z, \d+ records$/);
    expect(checks.get('orders-dr: reconcile')).toMatchObject({ state: 'warn' });
    expect(checks.get('runbooks')).toMatchObject({ state: 'ok' });
    expect(opened.did()).toEqual([]);
  });

  test('is reported when it is missing: no platform, a folder without any text', async (context) => {
    const { expect } = context;
    const opened = await bench(context, {
      config: (yaml) => `runbooks: ./nowhere\n${yaml.replace(/^platform: .*$/m, 'platform: none')}`,
    });
    const checks = await checksOf(opened);
    expect(checks.get('platform')).toMatchObject({ state: 'warn' });
    expect(checks.get('platform')?.hints).toEqual([
      'applications without a `reconnect` of their own are bound again by hand',
    ]);
    expect(checks.get('runbooks')).toMatchObject({ state: 'warn' });
  });
});

interface Check {
  readonly what: string;
  readonly state: string;
  readonly found: string;
  readonly hints: readonly string[];
}

async function checksOf({ run }: LabBench): Promise<ReadonlyMap<string, Check>> {
  const { stdout } = await run('doctor', '--json');
  return new Map(itemsIn<Check>(stdout).map((check) => [check.what, check]));
}
