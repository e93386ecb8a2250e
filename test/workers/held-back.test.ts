import { expect, test } from 'vitest';
import { withinLimits } from '../../src/commands/worker/limited.ts';
import { HostPace } from '../../src/service/host-pace.ts';
import type { RunProgress } from '../../src/store/projections/runs.ts';

const instances = {
  orders: { url: 'https://west.example.com/service-instances/1' },
  'orders-dr': { url: 'https://east.example.com/service-instances/2' },
} as never;

test('no run begins on a host that has asked to be spared, but a recovery away from that host does', async () => {
  const pace = new HostPace();
  pace.hear({
    url: 'https://west.example.com/v1/instances/9/backups',
    status: 429,
    answerHeaders: { 'retry-after': '60' },
  });
  const take = async (target?: string) => {
    const run = { runId: 'R', runbook: 'disaster-recovery', instance: 'orders', target } as RunProgress;
    return withinLimits({} as never, { workers: undefined, instances }, run, pace, async () => 'taken');
  };
  expect(await take()).toEqual({
    againMs: expect.closeTo(60_000, -3),
    why: 'west.example.com has asked to be spared',
  });
  expect(await take('orders-dr')).toBe('taken');
});
