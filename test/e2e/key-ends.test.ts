import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'vitest';
import { itemsIn } from '../bench-kit/results.ts';
import { ANSWERED, type TestBench, useQuickBenches } from '../bench-kit/test-bench.ts';
import { describeWith } from '../keys/programs.ts';
import { fakeClock } from '../store/faked-clock.ts';
import { originIn } from './rolled-back.ts';

interface Status {
  readonly rotation?: { readonly state: string; readonly key?: string; readonly why?: string };
  readonly ending?: readonly { readonly key: string; readonly due: string }[];
  readonly fits?: { readonly tried: number; readonly unopened: readonly number[] };
  readonly cautions: readonly string[];
}

function configure({ env }: TestBench, line: string): void {
  const config = env['LIFEBOAT_CONFIG'] ?? '';
  writeFileSync(config, `${line}\n${readFileSync(config, 'utf8')}`);
}

async function statusOf(home: TestBench): Promise<Status> {
  const [status] = itemsIn<Status>((await home.run('status', '--json')).stdout);
  if (status === undefined) throw new Error('no status');
  return status;
}

describe.concurrent('a key that is due for rotation', () => {
  const bench = useQuickBenches();

  /** A key that has been in force for longer than its cryptoperiod. */
  async function overdue(context: TestContext) {
    const home = await bench(context);
    await home.rotate();
    configure(home, 'keys: { cryptoperiod: 1s }');
    await context.expect
      .poll(async () => (await statusOf(home)).rotation?.state, { timeout: 20_000 })
      .toBe('due');
    return home;
  }

  test('is named by `status`, and notified once', async (context) => {
    const { expect } = context;
    const home = await overdue(context);
    const { rotation, cautions } = await statusOf(home);
    expect(cautions.join()).toMatch(
      new RegExp(
        `key ${rotation?.key} is due for rotation since .* UTC: lifeboat run rotate-key orders`,
        'u',
      ),
    );
    configure(
      home,
      `notify: [{ name: file, command: 'cat >> ${home.folder}/notified', on: [rotation-due] }]`,
    );
    await home.good('notify', 'send');
    await home.good('notify', 'send');
    const sent = readFileSync(`${home.folder}/notified`, 'utf8').trim().split('\n');
    expect(sent.map((line) => JSON.parse(line))).toMatchObject([
      { event: 'rotation-due', instance: 'orders', command: 'lifeboat run rotate-key orders' },
    ]);
  });

  test('is rotated by `run rotate-key --all-due`, which stops at a run that needs a person', async (context) => {
    const { expect } = context;
    const home = await overdue(context);
    const before = (await statusOf(home)).rotation?.key;
    const misspelt = await home.run('run', 'rotate-key', '--all-due', '--yes', '--confirm', 'orders,ordes');
    expect([misspelt.code, misspelt.stderr]).toEqual([2, expect.stringContaining('no instance ordes in')]);
    expect(await home.good('runs', '--open')).not.toContain('rotate-key');
    const waits = await home.run('run', 'rotate-key', '--all-due', '--yes');
    expect(waits.code, waits.stderr).toBe(3);
    await home.good('resume', '--abandon', 'a test');
    const ended = await home.run('run', 'rotate-key', '--all-due', ...ANSWERED);
    expect(ended.code, ended.stderr).toBe(0);
    expect(ended.stderr).toContain(`1 of 1: key ${before} of orders, due since`);
    expect((await statusOf(home)).rotation?.key).not.toBe(before);
  });

  test('is not reported within its period, or when its age is unknown', async (context) => {
    const { expect } = context;
    const home = await bench(context);
    const none = await home.run('run', 'rotate-key', '--all-due');
    expect([none.code, none.stderr]).toEqual([2, expect.stringContaining('names no cryptoperiod')]);
    configure(home, 'keys: { cryptoperiod: 180d }');
    expect((await statusOf(home)).rotation?.state).toBe('unknown');
    const unknown = await home.run('run', 'rotate-key', '--all-due');
    expect(unknown.code).toBe(0);
    expect(unknown.stderr).toMatch(/^orders: not known: /u);
    await home.rotate();
    expect((await statusOf(home)).rotation?.state).toBe('in-time');
    const ended = await home.run('run', 'rotate-key', '--all-due');
    expect([ended.code, ended.stderr]).toEqual([0, expect.stringContaining('no key is due for rotation\n')]);
  });
});

describeWith(['faketime'], 'a key that is scheduled to be destroyed', () => {
  const bench = useQuickBenches();
  const FORCE = ['--force', '--because', 'the data is gone by law'] as const;

  async function scheduled(context: TestContext) {
    const home = await bench(context);
    const [key = ''] = (await home.vault()).keys();
    await home.rotate();
    await home.good('keys', 'destroy', key, '-i', 'orders', '--in', '2h', '--confirm', key, ...FORCE);
    const clock = fakeClock(home);
    const late = async (...args: string[]) => {
      clock.set('+3h');
      return await home.startUnder(clock.under, ...args).ended;
    };
    return { home, key, late, expect: context.expect };
  }

  test('is listed by `status` and `followups` with how to cancel it, and is destroyed when due, also by a timer', async (context) => {
    const { home, key, late, expect } = await scheduled(context);
    const { ending, cautions } = await statusOf(home);
    expect(ending?.map((one) => one.key)).toEqual([key]);
    expect(cautions.join()).toContain(`lifeboat keys destroy ${key} -i orders --cancel`);
    const listed = await home.run('followups');
    expect(listed.stdout).toContain(`key ${key} of orders is to be destroyed on`);
    configure(home, `notify: [{ name: file, command: 'cat > /dev/null' }]`);
    await home.good('notify', 'send');
    expect((await home.vault()).has(key)).toBe(true);
    const ended = await late('notify', 'send');
    expect(ended.stderr).toContain(`key ${key} of orders was destroyed, as scheduled`);
    expect((await home.vault()).has(key)).toBe(false);
    const types = (await home.entries('instance/orders')).map(({ type }) => type);
    expect(types.at(-1)).toBe('custody.destroyed');
    const { alarms } = JSON.parse(await home.good('report', 'last', '--json')) as {
      alarms: { title: string }[];
    };
    expect(alarms[0]?.title).toMatch(/^KEY DESTROYED BY FORCE/u);
    const all = await home.good('report', '--all', '--format', 'md');
    expect(all).toContain('Keys were DESTROYED BY FORCE: backups may exist that nobody can open.');
    expect(all).toContain('the data is gone by law');
  });

  test('stays when a rollback of the journal is accepted, since its cancellation may have been lost', async (context) => {
    const { home, key, late, expect } = await scheduled(context);
    const files = readdirSync(home.home).filter((name) => name.startsWith('lifeboat.db'));
    const before = files.map((name) => [name, readFileSync(join(home.home, name))] as const);
    await home.good('keys', 'destroy', key, '-i', 'orders', '--cancel', '--because', 'it is needed');
    for (const name of readdirSync(home.home).filter((one) => one.startsWith('lifeboat.db')))
      rmSync(join(home.home, name));
    for (const [name, bytes] of before) writeFileSync(join(home.home, name), bytes, { mode: 0o600 });
    const loss = [
      'audit',
      'accept-loss',
      '--reason',
      'an old copy was put back',
      '--confirm',
      originIn(home),
    ];
    const accepted = await home.run(...loss);
    expect(accepted.code, accepted.stderr).toBe(0);
    expect(accepted.stdout).toContain(`cancelled: the destruction of key ${key} of orders`);
    expect((await statusOf(home)).ending).toEqual([]);
    await late('keys', 'fit', 'orders');
    expect((await home.vault()).has(key)).toBe(true);
  });
});
