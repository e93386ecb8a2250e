import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { describe, type TestContext, test } from 'vitest';
import { type LabBench, useLabs } from '../bench-kit/lab-bench.ts';
import { personAt } from '../bench-kit/person.ts';
import { hasTerminal, KEYS } from '../bench-kit/pseudo-terminal.ts';
import { itemsIn } from '../bench-kit/results.ts';
import { openTerminal } from '../bench-kit/terminal.ts';

const PERFORM = [
  ...['run', 'disaster-recovery', '--instance', 'orders'],
  ...['--target', 'orders-dr', '--perform'],
] as const;
const ANSWERED = ['--yes', '--confirm', 'orders-dr'] as const;
const PERFORMED = 'orders-dr POST /disaster-recovery/perform';

describe('a recovery in trouble', { timeout: 1_200_000 }, () => {
  const bench = useLabs();

  test('with a backup in its target is not allowed by --confirm, neither now nor when it is resumed', async (context) => {
    const { expect } = context;
    const opened = await bench(context);
    const { good, run, did } = opened;
    await prepare(opened);
    await good('backups', 'create', '--instance', 'orders-dr', '--wait', '--yes');
    for (const words of [PERFORM, ['resume']]) {
      const { code, stderr } = await run(...words, ...ANSWERED);
      expect(code, stderr).toBe(3);
      expect(stderr).toContain('target orders-dr is not empty: it holds 1 backup of its own');
      expect(stderr).not.toContain('--confirm orders-dr answers this');
      expect(did()).not.toContain(PERFORMED);
    }
  });

  test.for([
    {
      change: 'restarted',
      path: '/restart',
      method: 'PATCH',
      state: 'available',
      says: /the target has changed \(state: available, was provisioned\)/,
    },
    {
      change: 'backed up',
      path: '/backups',
      method: 'POST',
      state: 'provisioned',
      says: /it holds 1 backup of its own/,
    },
  ])(
    'whose target is $change after the first look stops and shows the difference',
    async ({ path, method, state, says }, context) => {
      const { expect } = context;
      const opened = await bench(context);
      const { lab, run, did } = opened;
      await prepare(opened);
      expect(await run(...PERFORM, '--yes')).toMatchObject({ code: 3 });
      await call(opened, 'orders-dr', method, path);
      await lab.atRest();
      await expect.poll(async () => stateOf(opened, 'orders-dr')).toBe(state);
      const { code, stderr } = await run('resume', ...ANSWERED);
      expect([1, 3], stderr).toContain(code);
      expect(stderr).toMatch(says);
      expect(did()).not.toContain(PERFORMED);
    },
  );

  test('that is killed while the service restores already has follow-ups, which stay open when it is abandoned', async (context) => {
    const { expect } = context;
    const { lab, start, run, did, good } = await bench(context);
    lab.fault({ path: '/backups/:id/restore', effect: { kind: 'task', outcome: 'queued' } });
    const running = start(
      ...['run', 'restore-backup', '--instance', 'orders', '--backup', '1'],
      ...['--yes', '--confirm', 'orders'],
    );
    await expect.poll(() => did(), { timeout: 600_000 }).toContain('orders POST /backups/:id/restore');
    running.child.kill('SIGKILL');
    await running.ended;
    const listed = await run('followups');
    expect(listed.code).toBe(3);
    expect(listed.stdout).toContain('rebind-orders-api: unbind, bind and restage orders-api');
    await good('resume', '--abandon', 'the machine is given back');
    const kept = await run('followups');
    expect(kept.code).toBe(3);
    for (const what of ['restage orders-api', 'restage orders-report', 'service key ops', 'back up orders'])
      expect(kept.stdout).toContain(what);
    expect((await run('audit', 'verify')).code).toBe(0);
    lab.clearFaults();
  });

  test.runIf(hasTerminal())(
    'that forbids maintenance updates leaves a follow-up to allow them again when it is abandoned',
    async (context) => {
      const { expect } = context;
      const opened = await bench(context, { revision: 61 });
      const { lab, run, good, did } = opened;
      lab.fault({ method: 'PATCH', path: '/restart', effect: { kind: 'drop', when: 'before' } });
      const terminal = openTerminal(opened.product, opened, [
        ...['run', 'change-instance', '--instance', 'orders', '--action', 'restart'],
      ]);
      context.onTestFinished(() => terminal.close());
      const { asks, confirm, holdUpdatesBack, isGivenBack, shows, type } = personAt(terminal, expect);
      await holdUpdatesBack();
      await asks("type the instance's name");
      await confirm();
      await asks('it has started');
      type(KEYS.escape);
      await asks('leave this run?');
      type(KEYS.down);
      await shows('❯ leave');
      type(KEYS.enter);
      await isGivenBack(130);
      await good('resume', '--abandon', 'somebody else restarts it');
      const listed = await run('followups', '--json');
      expect(listed.code).toBe(3);
      const [{ id, commands } = { id: '', commands: [] }] = itemsIn<{ id: string; commands: string[] }>(
        listed.stdout,
      );
      expect(commands).toEqual(['lifeboat instance settings --instance orders --allow-updates true']);
      // The restart is still in doubt, and stops every other change until a person has said what became of
      // it.
      expect((await run(...(commands[0]?.split(' ').slice(1) ?? []), '--yes')).code).toBe(5);
      await good('resume', 'last', '--became', 'nothing', '--reason', 'it did not');
      await good(...(commands[0]?.split(' ').slice(1) ?? []), '--yes');
      expect(did().filter((one) => one === 'orders PATCH /broker/edit')).toHaveLength(2);
      await good('followups', 'done', id, '--proof', 'allowed by the command');
      expect((await run('followups')).code).toBe(0);
    },
  );

  test('of a lost instance sends it no request, and its data is in the target', async (context) => {
    const { expect } = context;
    const opened = await bench(context, { platform: false });
    const { lab, run, did, query } = opened;
    await prepare(opened);
    await lab.disaster('orders', true);
    const connections = await listenInPlaceOf(opened, 'orders', context);
    const { code, stderr } = await run(...PERFORM, ...ANSWERED);
    expect([0, 3], stderr).toContain(code);
    expect(connections()).toBe(0);
    // The listener is where the source is asked for: a command that does ask for it comes by.
    expect((await run('backups', 'list', '--instance', 'orders')).code).toBe(1);
    expect(connections()).toBeGreaterThan(0);
    expect(did().filter((one) => one === PERFORMED)).toHaveLength(1);
    const [row] = await query('orders-dr')<{ n: string }>('select count(*) n from orders');
    expect(Number(row?.n)).toBeGreaterThan(0);
  });
});

async function prepare({ good }: LabBench): Promise<void> {
  await good('run', 'disaster-recovery', '--instance', 'orders', '--prepare', '--yes');
}

/** As a colleague would, without the product. */
async function call({ lab }: LabBench, instance: string, method: string, path: string): Promise<unknown> {
  const guid = lab.instances.find(({ name }) => name === instance)?.guid;
  const response = await fetch(`${lab.url}/v1/instances/${guid}${path}`, {
    method,
    headers: { authorization: `Bearer ${readFileSync(lab.tokenFile, 'utf8').trim()}` },
  });
  if (!response.ok) throw new Error(`${method} ${path} gave ${response.status}`);
  return response.status === 204 ? undefined : response.json().catch(() => undefined);
}

async function stateOf(bench: LabBench, instance: string): Promise<unknown> {
  const overview = (await call(bench, instance, 'GET', '')) as { readonly state?: string };
  return overview.state;
}

/**
 * Puts a listener at the address that the config has for an instance. It counts connections, and answers
 * none.
 */
async function listenInPlaceOf(
  { lab, env }: LabBench,
  instance: string,
  { onTestFinished }: Pick<TestContext, 'onTestFinished'>,
): Promise<() => number> {
  let count = 0;
  const server = createServer((socket) => {
    count += 1;
    socket.destroy();
  });
  onTestFinished(() => void server.close());
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const guid = lab.instances.find(({ name }) => name === instance)?.guid;
  const path = `/service-instances/${guid}`;
  const config = readFileSync(env['LIFEBOAT_CONFIG'] ?? '', 'utf8');
  const { port } = server.address() as AddressInfo;
  writeFileSync(
    env['LIFEBOAT_CONFIG'] ?? '',
    config.replace(`${lab.url}${path}`, `http://127.0.0.1:${port}${path}`),
  );
  return () => count;
}
