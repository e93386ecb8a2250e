import { appendFileSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'vitest';
import type { InstanceStatus } from '../../src/view/fleet/status-schema.ts';
import { CANARIES } from '../bench-kit/canaries.ts';
import type { Ended } from '../bench-kit/product.ts';
import { itemsIn } from '../bench-kit/results.ts';
import { changes, useQuickBenches } from '../bench-kit/test-bench.ts';
import { parseMetrics } from '../commands/status/openmetrics.ts';

const PREPARE = [
  'run',
  'disaster-recovery',
  '--instance',
  'orders',
  '--prepare',
  '--yes',
  '--confirm',
  'orders',
];

describe.concurrent('lifeboat status', () => {
  const bench = useQuickBenches();

  test('says why an instance could not be recovered, and that it could once key, backup and card are there', async (context) => {
    const { expect } = context;
    const { here, run, rotate, server } = await bench(context);
    const before = await run('status', '--json');
    expect(before.code, before.stderr).toBe(1);
    const orders = statusIn(before, 'orders');
    expect(orders.recoverable.answer).toBe('no');
    expect(orders.evaluation).toMatchObject({ verdict: 'not-ready' });
    expect(orders.recoverable.reasons.map(({ code }) => code)).toContain('card.none');
    expect(changes(server)).toMatchObject({ patches: 0, posts: 0 });

    expect((await rotate()).code).toBe(0);
    const prepared = await run(...PREPARE);
    expect(prepared.code, prepared.stderr).toBe(0);
    const after = await here('status', 'orders', '--json');
    expect(after.code, after.stdout).toBe(0);
    expect(statusIn(after, 'orders')).toMatchObject({
      recoverable: { answer: 'yes', reasons: [] },
      evaluation: { verdict: 'ready', reason: 'it was never restored or rehearsed' },
      key: { isProven: true },
      provenBackup: { isListed: true },
    });
  });

  test('what it last saw of an instance is offered once the instance is lost, even without a recovery card', async (context) => {
    const { expect } = context;
    let isLost = false;
    const orders = { name: 'orders', archiving: true, backups: 2, key: CANARIES.oldKey };
    const { here, rotate, server } = await bench(context, {
      instances: [orders, { name: 'orders-dr' }],
      trouble: ({ instance }) => (isLost && instance === 'orders' ? { answer: 'lost' } : undefined),
    });
    expect((await rotate()).code).toBe(0);
    await here('status', '--json');
    isLost = true;
    const lost = statusIn(await here('status', '--json'), 'orders');
    expect(lost.newestBackup).toBeUndefined();
    expect(lost.lastSeenBackup).toMatchObject({ id: 900075, seenAt: expect.any(String) });
    expect(lost.elsewhere.answer).toBe('unknown');
    const table = (await here('status', 'orders')).stdout;
    expect(table).toMatch(/^orders +NOT READY .*\d+\w seen/mu);
    expect(table).toMatch(/orders: newest backup: \d+\w+ old as last seen \d+\w ago \(backup 900075\)/u);
    expect(table).toContain('backup 900075 could be recovered by its id bkp:4.900075~c2 with key');
    const recovery = ['run', 'disaster-recovery', 'orders', '--target', 'orders-dr', '--perform', '--yes'];
    const planned = await here(...recovery.filter((word) => word !== '--yes'), '--dry-run');
    expect(planned.stdout).toContain('which backup of orders do you want to recover?');
    const ended = await here(...recovery, '--confirm', 'orders-dr');
    expect(ended.code, ended.stderr).toBe(3);
    expect(ended.stderr).toMatch(/backup 900041 of [^,]+, not proven/u);
    expect(ended.stderr).toMatch(/backup 900058 of [^,]+, proven/u);
    expect(ended.stderr).toMatch(/backup 900075 of [^,]+, proven/u);
    expect(changes(server).posts).toBe(1);
    const key = ['backup-config', 'set', '-i', 'orders-dr', '--new-key', '--anyway', 'it has none', '--yes'];
    const keyed = await here(...key, '--confirm', 'orders-dr');
    expect(keyed.code, keyed.stderr).toBe(0);
    const chosen = ['--guid', 'bkp:4.900075~c2', '--yes', '--confirm', 'orders-dr'];
    const resumed = await here('resume', ...chosen);
    expect(resumed.code, resumed.stderr).toBe(0);
    expect(server.calls.findLast(({ path }) => path.endsWith('/perform'))?.body).toMatchObject({
      backup_guid: 'bkp:4.900075~c2',
    });
  });

  test('an instance that never answers is unknown when its time is over, and delays no other', async (context) => {
    const { expect } = context;
    const never = new Promise<undefined>(() => undefined);
    const { run } = await bench(context, {
      trouble: ({ instance }) => (instance === 'orders-dr' ? never : undefined),
    });
    const ended = await run('status', '--limit', '2s', '--json');
    expect(ended.code, ended.stderr).toBe(1);
    const silent = statusIn(ended, 'orders-dr');
    expect(silent.parts.backups).toMatchObject({ state: 'failed', why: 'no answer within 2 s' });
    expect(silent.newestBackup).toBeUndefined();
    expect(silent.inPlace.answer).toBe('unknown');
    expect(statusIn(ended, 'orders').parts.backups.state).toBe('known');
    expect(statusIn(ended, 'orders').newestBackup).toBeDefined();
  });

  test('an impossible time limit is a usage error, and nothing is requested', async (context) => {
    const { expect } = context;
    const { run, server } = await bench(context);
    for (const limit of ['0s', '30d']) {
      const ended = await run('status', '--limit', limit);
      expect(ended).toMatchObject({ code: 2, stdout: '' });
      expect(ended.stderr).toContain(`lifeboat: --limit ${limit} is not between 1s and 1h\n`);
    }
    expect(server.calls).toEqual([]);
  });

  test('a token that is refused makes every part of the service unknown, and appears in no output', async (context) => {
    const { expect } = context;
    const { here, tokenFile } = await bench(context);
    writeFileSync(tokenFile, `${CANARIES.otherToken}\n`);
    const ended = await here('status', 'orders');
    expect(ended.code).toBe(1);
    expect(ended.stdout).toContain('orders: NOT READY: the service refuses the token');
    expect(`${ended.stdout}${ended.stderr}`).not.toContain(CANARIES.otherToken);
  });

  test('an instance with V0, which says nothing about the instance itself, is judged by its list', async (context) => {
    const { expect } = context;
    const { here } = await bench(context, { revision: 'v0' });
    const orders = statusIn(await here('status', 'orders', '--json'), 'orders');
    expect(orders.parts).toMatchObject({ overview: { state: 'missing' }, backups: { state: 'known' } });
    expect(orders.newestBackup).toBeDefined();
    expect(orders.recoverable.answer).toBe('no');
  });

  test('--prometheus writes a whole file that the exporter may read, and replaces it', async (context) => {
    const { expect } = context;
    const { here, folder } = await bench(context);
    const file = join(folder, 'lifeboat.prom');
    for (const _ of ['first', 'again']) {
      expect((await here('status', 'orders', '--prometheus', file)).code).toBe(1);
      const samples = parseMetrics(readFileSync(file, 'utf8'));
      expect(samples.find(({ name }) => name === 'lifeboat_instance_recoverable')).toMatchObject({
        labels: { instance: 'orders', way: 'in_place' },
        value: 0,
      });
    }
    expect(statSync(file).mode & 0o777).toBe(0o644);
    expect(readdirSync(folder).filter((name) => name.startsWith('lifeboat.prom'))).toEqual(['lifeboat.prom']);
    const missing = await here('status', '--prometheus', join(folder, 'nowhere', 'lifeboat.prom'));
    expect(missing.code).toBe(1);
    expect(missing.stderr).toContain('cannot be written');
  });

  test('with a store that does not answer, a command says at once that it keeps trying, and for how long', async (context) => {
    const { expect } = context;
    const { env, start } = await bench(context);
    appendFileSync(env['LIFEBOAT_CONFIG'] ?? '', 'store: postgres://ada@127.0.0.1:1/lifeboat\n');
    const { child, ended } = start('runs', '--open');
    child.stderr?.once('data', () => child.kill('SIGKILL'));
    expect(await ended).toMatchObject({
      code: null,
      stderr: 'the store cannot be reached: nobody answers there; trying for 20 s\n',
    });
  });

  test('asks the instances that are named, as arguments, by -i, or both', async (context) => {
    const { expect } = context;
    const { here } = await bench(context);
    const lines = [
      ['orders-dr'],
      ['-i', 'orders-dr'],
      ['orders', '-i', 'orders-dr'],
      ['-i', 'orders', '-i', 'orders-dr'],
    ];
    const asked = await Promise.all(
      lines.map(async (line) => itemsIn<InstanceStatus>((await here('status', '--json', ...line)).stdout)),
    );
    expect(asked.map((items) => items.map(({ name }) => name))).toEqual([
      ['orders-dr'],
      ['orders-dr'],
      ['orders', 'orders-dr'],
      ['orders', 'orders-dr'],
    ]);
  });

  test('an instance that is not in the config is a usage error', async (context) => {
    const { here } = await bench(context);
    context.expect((await here('status', 'nosuch')).code).toBe(2);
  });
});

function statusIn({ stdout }: Ended, name: string): InstanceStatus {
  const found = itemsIn<InstanceStatus>(stdout).find((one) => one.name === name);
  if (found === undefined) throw new Error(`no ${name} in ${stdout}`);
  return found;
}
