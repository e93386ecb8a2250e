import { describe, test } from 'vitest';
import { outputOf } from '../bench-kit/entries-of.ts';
import type { Answer, Call } from '../bench-kit/foreign/call.ts';
import { changes, useQuickBenches } from '../bench-kit/test-bench.ts';

/** An overview that says this, whatever is true of the rest. */
function showing(said: { readonly updated_at: string; readonly state?: string }) {
  return (_call: Call, answer: Answer): Answer =>
    'body' in answer && typeof answer.body === 'object' && answer.body !== null && 'state' in answer.body
      ? { ...answer, body: { ...answer.body, ...said } }
      : answer;
}

/** A service that moves no time for what it does. */
const STILL = { updated_at: '2026-03-01T00:00:00Z' };
const UNSEEN = /it was not seen deploying; it is available .* after the recreate was accepted/u;

describe.concurrent('an action that was accepted and left no trace', { timeout: 600_000 }, () => {
  const bench = useQuickBenches();

  test('counts as done for a process that looks after its end, and the record says how this is known', async (context) => {
    const { expect } = context;
    const { start, here, run, server, entries } = await bench(context, {
      taskMs: 3_000,
      twist: showing(STILL),
    });
    const recreate = ['run', 'change-instance', '--instance', 'orders', '--action', 'recreate'] as const;
    const first = start(...recreate, '--yes', '--confirm', 'orders');
    await expect.poll(() => first.stderr(), { timeout: 300_000 }).toContain('status deploying');
    first.child.kill('SIGKILL');
    await first.ended;
    await expect.poll(() => server.instance('orders').state, { timeout: 300_000 }).toBe('available');
    const end = await run('resume', '--yes');
    expect(end.code, end.stderr).toBe(0);
    expect(end.stderr).toMatch(UNSEEN);
    expect(changes(server)).toMatchObject({ patches: 1 });
    expect(outputOf(await entries(), 'waitForInstance')).toMatchObject({ seenDeploying: false });
    const runId = (await entries()).find(({ stream }) => stream.startsWith('run/'))?.stream.slice(4) ?? '';
    const report = await here('report', runId);
    expect(report.stdout).toMatch(UNSEEN);
  });

  test('counts as done for a single command that waits for it', async (context) => {
    const { expect } = context;
    const { run } = await bench(context, { twist: showing({ ...STILL, state: 'available' }) });
    const recreate = ['instance', 'recreate', '--instance', 'orders', '--confirm', 'orders'] as const;
    const end = await run(...recreate, '--wait');
    expect(end.code, end.stderr).toBe(0);
    expect(end.stderr).toMatch(UNSEEN);
  });
});
