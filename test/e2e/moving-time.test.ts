import { describe, test } from 'vitest';
import { withApprovals } from '../bench-kit/approval-bench.ts';
import type { Answer, Call } from '../bench-kit/foreign/call.ts';
import { ANSWERED, changes, ROTATE, useQuickBenches } from '../bench-kit/test-bench.ts';
import { CASES, runFlow } from './flows.ts';

/**
 * An instance whose time of the last change is another one each time that it is asked for, while nothing else
 * changes.
 */
function movingTime() {
  let minutes = 0;
  return (_call: Call, answer: Answer): Answer => {
    if (!('body' in answer) || !isOverview(answer.body)) return answer;
    minutes += 1;
    const updated_at = new Date(Date.parse('2026-03-01T00:00:00Z') + minutes * 60_000).toISOString();
    return { ...answer, body: { ...answer.body, updated_at } };
  };
}

function isOverview(body: unknown): body is object {
  return typeof body === 'object' && body !== null && 'updated_at' in body && 'state' in body;
}

const CONFIRMED = CASES.filter(({ name }) => !name.endsWith('--prepare') && !name.startsWith('back-up'));

describe.concurrent('where updated_at changes by itself', { timeout: 600_000 }, () => {
  const bench = useQuickBenches();

  test.for(CONFIRMED)('$name in revision $revision is confirmed once and done', async (flow, context) => {
    const { expect } = context;
    const opened = await bench(context, { revision: flow.revision, twist: movingTime() });
    const { end } = await runFlow(opened, flow);
    expect(end.code, end.stderr).toBe(0);
  });

  test('rotate-key is confirmed once and done', async (context) => {
    const { expect } = context;
    const { rotate } = await bench(context, { twist: movingTime() });
    const end = await rotate();
    expect(end.code, end.stderr).toBe(0);
  });

  test('an approval is valid until the change, and not for another state of the instance', async (context) => {
    const { expect } = context;
    const opened = await withApprovals(bench, context, { bench: { twist: movingTime() } });
    const { run, server, ada, approve } = opened;
    expect((await run(...ROTATE, ...ANSWERED)).code).toBe(3);
    await approve(ada);
    await server.schedule();
    await expect.poll(() => server.backups[0]?.status, { timeout: 200_000 }).toBe('done');
    const stale = await run('resume', ...ANSWERED);
    expect(stale.code, stale.stderr).toBe(3);
    expect(stale.stderr).toContain(`the newest backup is ${server.backups[0]?.id}, it was`);
    expect(changes(server)).toMatchObject({ patches: 0 });
    await approve(ada);
    const end = await run('resume', ...ANSWERED);
    expect(end.code, end.stderr).toBe(0);
    expect(changes(server)).toMatchObject({ patches: 1 });
  });
});

describe.concurrent('a key change during a restore', () => {
  const bench = useQuickBenches();

  test('is not started, and names the restore', async (context) => {
    const { expect } = context;
    const { server, rotate } = await bench(context);
    const orders = server.instance('orders');
    const gate = Promise.withResolvers<void>();
    context.onTestFinished(() => gate.resolve());
    const [backup] = orders.backups;
    if (backup === undefined) throw new Error('the bench has a backup');
    const { id } = orders.restore(backup, orders.keys[0] ?? '', { until: gate.promise });
    const end = await rotate();
    expect(end.code, end.stderr).toBe(3);
    expect(end.stderr).toContain(`restore ${id} of orders is`);
    expect(changes(server)).toMatchObject({ patches: 0 });
  });

  test('is confirmed again when a restore came and went while the name was being typed', async (context) => {
    const { expect } = context;
    const { server, run } = await bench(context);
    const orders = server.instance('orders');
    expect((await run(...ROTATE, '--yes')).code).toBe(3);
    const [backup] = orders.backups;
    if (backup === undefined) throw new Error('the bench has a backup');
    const { id } = orders.restore(backup, orders.keys[0] ?? '');
    await expect.poll(() => orders.restores[0]?.status, { timeout: 200_000 }).toBe('done');
    const end = await run('resume', ...ANSWERED);
    expect(end.code, end.stderr).toBe(3);
    expect(end.stderr).toContain(`restore ${id} was made meanwhile`);
    expect(changes(server)).toMatchObject({ patches: 0 });
  });
});
