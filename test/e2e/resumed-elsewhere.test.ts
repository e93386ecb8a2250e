import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'vitest';
import { changes, type TestBench, useQuickBenches } from '../bench-kit/test-bench.ts';

const RESTART = ['run', 'change-instance', '--instance', 'orders', '--action', 'restart'] as const;

/** Rewrites the config, as a pull from a repository would. */
function edit({ folder }: TestBench, change: (yaml: string) => string): void {
  const path = join(folder, 'lifeboat.yaml');
  const before = readFileSync(path, 'utf8');
  const after = change(before);
  if (after === before) throw new Error('the config is as it was');
  writeFileSync(path, after);
}

describe.concurrent('a run that is resumed after the config has changed', { timeout: 600_000 }, () => {
  const bench = useQuickBenches();

  /** A run that stands at its first question. */
  async function begun(context: TestContext, before?: (yaml: string) => string) {
    const opened = await bench(context);
    if (before !== undefined) edit(opened, before);
    const left = await opened.run(...RESTART);
    context.expect(left.code, left.stderr).toBe(3);
    const stream = (await opened.entries()).find((entry) => entry.type === 'run.started')?.stream ?? '';
    return { ...opened, runId: stream.replace('run/', '') };
  }
  const resumed = ['resume', '--yes', '--confirm', 'orders'] as const;

  test('is refused where its instance is now another one: that one gets no request', async (context) => {
    const { expect } = context;
    const opened = await begun(context);
    const { guid } = opened.server.instance('orders');
    const other = '11111111-2222-4333-8444-555555555555';
    const asked = opened.server.calls.length;
    edit(opened, (yaml) => yaml.replaceAll(guid, other));
    const refused = await opened.run(...resumed);
    expect(refused.code, refused.stderr).toBe(2);
    expect(refused.stderr).toContain(`run ${opened.runId} began on orders at`);
    expect(refused.stderr).toContain(guid);
    expect(refused.stderr).toContain(other);
    expect(refused.stderr).toContain('nothing was sent: the run is unchanged');
    expect(opened.server.calls.length).toBe(asked);
    edit(opened, (yaml) => yaml.replaceAll(other, guid));
    const end = await opened.run(...resumed);
    expect(end.code, end.stderr).toBe(0);
    expect(changes(opened.server)).toMatchObject({ patches: 1 });
  });

  test('still keeps others away from its instance under a new name', async (context) => {
    const { expect } = context;
    const opened = await begun(context);
    edit(opened, (yaml) => yaml.replace('  orders:', '  shop:'));
    const other = await opened.run(...RESTART.map((word) => (word === 'orders' ? 'shop' : word)));
    expect(other.code, other.stderr).toBe(3);
    expect(other.stderr).toContain(`run ${opened.runId} on orders is still open`);
    const single = await opened.run('instance', 'restart', '--instance', 'shop', '--yes');
    expect(single.code, single.stderr).toBe(3);
    expect(single.stderr).toContain(`run ${opened.runId} on shop is still open`);
    edit(opened, (yaml) => yaml.replace('  shop:', '  orders:'));
    const end = await opened.run(...resumed);
    expect(end.code, end.stderr).toBe(0);
  });

  test('continues where the address of the service is spelled differently', async (context) => {
    const opened = await begun(context);
    edit(opened, (yaml) => yaml.replaceAll('/service-instances/', '/v1/instances/'));
    const end = await opened.run(...resumed);
    context.expect(end.code, end.stderr).toBe(0);
  });

  test('is refused if it began as a rehearsal and the config no longer says rehearsal', async (context) => {
    const { expect } = context;
    const rehearsal = '    rehearsal: true\n';
    const opened = await begun(context, (yaml) =>
      yaml.replaceAll('    inFlight:', `${rehearsal}    inFlight:`),
    );
    edit(opened, (yaml) => yaml.replaceAll(rehearsal, ''));
    const refused = await opened.run(...resumed);
    expect(refused.code, refused.stderr).toBe(2);
    expect(refused.stderr).toContain('began as a rehearsal');
    expect(changes(opened.server)).toMatchObject({ patches: 0 });
  });
});
