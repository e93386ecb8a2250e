import { PassThrough } from 'node:stream';
import { describe, test } from 'vitest';
import type { CommandContext } from '../../src/cli/context.ts';
import { openWorkspace } from '../../src/compose/workspace.ts';
import { appendHolding } from '../../src/runner/holds.ts';
import { itemsIn } from '../bench-kit/results.ts';
import { changes, type TestBench, useQuickBenches } from '../bench-kit/test-bench.ts';

const ORDERS = ['--instance', 'orders'] as const;
const SURE = [...ORDERS, '--confirm', 'orders'] as const;

/** What a single command of an earlier version left in the ledger when it was killed at its answer. */
async function leaveCall({ env, server }: TestBench): Promise<void> {
  const streams = { stdin: new PassThrough(), stdout: new PassThrough(), stderr: new PassThrough() };
  const workspace = await openWorkspace({ ...streams, env } as unknown as CommandContext, {
    operator: 'Robin',
  });
  const mark = { intent: 'call-01OLD', verb: 'restart' };
  const url = server.urlOf('orders');
  const entries = [
    ['call.begun', { call: mark.intent, verb: mark.verb, input: {}, url }],
    ['activity.begun', { ...begun(mark), input: { intent: mark.intent } }],
    ['intent.prepared', { ...mark, baseline: { lost: true } }],
    ['intent.armed', { ...mark, armedAt: new Date().toISOString() }],
  ] as const;
  await appendHolding(
    workspace.journal,
    entries.map(([type, body]) => ({ stream: 'instance/orders' as const, type, body })),
  );
  await workspace.close();
}

function begun({ intent, verb }: { readonly intent: string; readonly verb: string }) {
  return { activity: intent, verb, kind: 'once', key: intent };
}

describe.concurrent('a call that a single command of an earlier version left in doubt', () => {
  const bench = useQuickBenches();

  test('stops every change of its instance until a person says what it became', async (context) => {
    const { expect } = context;
    const home = await bench(context);
    await leaveCall(home);
    const listed = itemsIn((await home.run('runs', '--in-doubt', '--json')).stdout);
    expect(listed).toMatchObject([{ instance: 'orders', intent: 'call-01OLD', verb: 'restart' }]);
    for (const words of [
      ['backups', 'restore', '900041', ...SURE, '--anyway', 'it has to be'],
      ['instance', 'restart', ...ORDERS, '--yes'],
      ['run', 'restore-backup', ...SURE, '--yes', '--backup', '900041'],
      ['resume', 'call-01OLD', '--look'],
    ]) {
      const refused = await home.run(...words);
      expect(refused.code, `${words.join(' ')}: ${refused.stderr}`).toBe(5);
      expect(refused.stderr).toContain('lifeboat resume call-01OLD --became done|nothing --reason WHY');
    }
    expect(changes(home.server)).toMatchObject({ posts: 0, patches: 0 });
    const decided = ['resume', 'call-01OLD', '--became', 'nothing', '--reason', 'the dashboard shows none'];
    const resolved = await home.run(...decided);
    expect(resolved.code, resolved.stderr).toBe(0);
    expect(itemsIn((await home.run('runs', '--in-doubt', '--json')).stdout)).toEqual([]);
    const restarted = await home.run('instance', 'restart', ...ORDERS, '--yes');
    expect(restarted.code, restarted.stderr).toBe(0);
    expect((await home.run('audit', 'show', ...ORDERS)).stdout).toContain(
      'decided: the request to restart the instance became nothing',
    );
    expect((await home.run('audit', 'verify')).code).toBe(0);
  });
});
