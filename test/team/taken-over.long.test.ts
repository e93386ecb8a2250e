import { expect, test } from 'vitest';
import { builtProduct, type Running } from '../bench-kit/product.ts';
import { until } from '../bench-kit/until.ts';
import { isPerform } from '../plans/plan-bench.ts';
import { randomFrom } from '../random.ts';
import { isPlanOver, openPlanTeam } from './hurt-workers.ts';
import { LEASE_MS } from './trial.ts';

/** How many messages to the database a take-over may have: a later point is after its end. */
const LAST_POINT = 90;
/** `POINTS` moments, which `SEED` draws. */
const POINTS = Number(process.env['POINTS'] ?? 4);
const SEED = Number(process.env['SEED'] ?? 1);

const product = builtProduct({ cheapVault: true, leaseMs: LEASE_MS });

// dbos-transact-py#716: a restart of the database during a recovery left its work stranded for ever.
test('if the database restarts at any point of a take-over, the run is still taken, and its call is made once', {
  timeout: 1_200_000,
}, async () => {
  const mayEnd = Promise.withResolvers<void>();
  const trouble = (call: Parameters<typeof isPerform>[0]) =>
    isPerform(call) ? { task: { until: mayEnd.promise } } : undefined;
  await using opened = await openPlanTeam(product, 1, { trouble });
  const { team, made } = opened;
  const { ada, servers } = team;
  let worker = ada.bench.start('worker');
  await made.good('plans', 'run', 'west', '--confirm', 'data', '--detach');
  await until(() => made.server.calls.some(isPerform));

  const draw = randomFrom(SEED);
  let struck = 0;
  for (let at = 0; at < POINTS; at += 1) {
    worker.child.kill('SIGKILL');
    await worker.ended;
    let restarting: Promise<void> | undefined;
    ada.database.arm({
      words: '',
      nth: 1 + Math.floor(draw() * LAST_POINT),
      at: 'held',
      strike: () => {
        struck += 1;
        restarting = servers.primary.crash().then(() => servers.primary.start());
        ada.database.release();
      },
    });
    worker = ada.bench.start('worker');
    await until(async () => {
      await restarting;
      worker = begunAgain(worker, () => ada.bench.start('worker'));
      return takersIn(await team.entries()).includes(worker.child.pid);
    }, 120_000);
    await restarting;
  }
  mayEnd.resolve();
  await until(async () => {
    worker = begunAgain(worker, () => ada.bench.start('worker'));
    return isPlanOver(await team.entries());
  }, 120_000);
  worker.child.kill('SIGTERM');
  await worker.ended;
  expect(made.performed()).toEqual({ 'db-1-dr': 1 });
  expect(made.server.calls.filter(isPerform)).toHaveLength(1);
  expect(struck).toBeGreaterThan(0);
});

/** As its unit does: a worker that cannot reach the database ends. */
function begunAgain(worker: Running, begin: () => Running): Running {
  const { exitCode, signalCode } = worker.child;
  return exitCode === null && signalCode === null ? worker : begin();
}

/** The processes that have taken the recovery up. */
function takersIn(
  entries: readonly { readonly stream: string; readonly type: string; readonly body: unknown }[],
) {
  const { stream } =
    entries.findLast(
      ({ type, body }) =>
        type === 'run.started' && (body as { readonly runbook?: string }).runbook === 'disaster-recovery',
    ) ?? {};
  return entries.flatMap((entry) =>
    entry.stream === stream && entry.type === 'run.resumed'
      ? [(entry.body as { readonly pid?: number }).pid]
      : [],
  );
}
