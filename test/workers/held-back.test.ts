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
    return withinLimits({} as never, { workers: undefined, instances }, run, pace, (inTurn) =>
      inTurn(async () => 'taken'),
    );
  };
  expect(await take()).toEqual({
    againMs: expect.closeTo(60_000, -3),
    why: 'west.example.com has asked to be spared',
  });
  expect(await take('orders-dr')).toBe('taken');
});

test('while one worker asks a service that hangs, another one takes up a run within the same limits', async () => {
  let isHeld = false;
  const free = () => {
    isHeld = false;
  };
  const journal = {
    rows: async () => [],
    hold: async () => {
      expect(isHeld).toBe(false);
      isHeld = true;
      return { release: async () => free() };
    },
  } as never;
  const run = { runId: 'R', runbook: 'rotate-key', instance: 'orders', isLeft: true } as RunProgress;
  const config = { workers: { perTeam: 1 }, instances } as never;
  const answer = Promise.withResolvers<void>();
  const hanging = withinLimits(journal, config, run, new HostPace(), async (inTurn) => {
    await answer.promise;
    return inTurn(async () => 'late');
  });
  const other = await withinLimits(journal, config, run, new HostPace(), (inTurn) =>
    inTurn(async () => 'taken'),
  );
  expect(other).toBe('taken');
  answer.resolve();
  expect(await hanging).toBe('late');
});

test('a place that was taken while the run was opened is not taken twice', async () => {
  const open: RunProgress[] = [];
  const journal = {
    rows: async () => open.map((value) => ({ value })),
    hold: async () => ({ release: async () => undefined }),
  } as never;
  const run = { runId: 'R', runbook: 'rotate-key', instance: 'orders', isLeft: true } as RunProgress;
  const config = { workers: { perTeam: 1 }, instances } as never;
  const took = await withinLimits(journal, config, run, new HostPace(), async (inTurn) => {
    open.push({ ...run, runId: 'other', isLeft: false });
    return inTurn(async () => 'taken');
  });
  expect(took).toEqual({ againMs: 1_000 });
});
