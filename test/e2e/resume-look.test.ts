import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'vitest';
import { CANARIES } from '../bench-kit/canaries.ts';
import type { Trouble } from '../bench-kit/foreign/call.ts';
import { itemsIn, schemasIn } from '../bench-kit/results.ts';
import { changes, type TestBench, useQuickBenches } from '../bench-kit/test-bench.ts';

const ORDERS = ['--instance', 'orders'] as const;
const SURE = [...ORDERS, '--confirm', 'orders'] as const;

/** Lets a command send its restore, and kills it while it waits for the answer. */
function killing() {
  let kill: (() => void) | undefined;
  return {
    trouble: ({ method }: { readonly method: string }): Trouble | undefined => {
      if (method === 'GET') return undefined;
      kill?.();
      return { answerAfterMs: 60_000 };
    },
    run: async (home: TestBench, ...args: string[]): Promise<void> => {
      const running = home.start(...args);
      kill = () => running.child.kill('SIGKILL');
      await running.ended;
      kill = undefined;
    },
  };
}

/** Trouble for the first change alone. */
function once(trouble: Trouble) {
  let isFirst = true;
  return ({ method }: { readonly method: string }): Trouble | undefined => {
    if (method === 'GET' || !isFirst) return undefined;
    isFirst = false;
    return trouble;
  };
}

/** The command that a refusal gives for asking the service. */
function askHint(stderr: string): readonly string[] {
  const [, command = ''] =
    /^hint: .*to ask the service, which sends nothing: lifeboat (.+)$/mu.exec(stderr) ?? [];
  return command.split(' ');
}

describe.concurrent('a call in doubt', () => {
  const bench = useQuickBenches();

  test('is looked up by the command that the refusal names, which sends nothing, however often it is run', async (context) => {
    const { expect } = context;
    const killed = killing();
    const home = await bench(context, { trouble: killed.trouble });
    await killed.run(home, 'backups', 'restore', '900041', ...SURE);
    const refused = await home.run('run', 'restore-backup', ...SURE, '--yes', '--backup', '900041');
    expect(refused.code, refused.stderr).toBe(5);
    const ask = askHint(refused.stderr);
    expect([ask[0], ask[2]], refused.stderr).toEqual(['resume', '--look']);
    const asked = await home.run(...ask, '--json');
    expect(asked.code, asked.stderr).toBe(0);
    const [restore] = home.server.instance('orders').restores;
    expect(schemasIn(asked.stdout)).toEqual(['call']);
    expect(JSON.parse(asked.stdout)).toMatchObject({
      ...{ instance: 'orders', verb: 'restoreBackup' },
      ...{ landed: true, became: restore?.id, reason: expect.stringContaining('the service shows restore ') },
    });
    expect(itemsIn((await home.run('runs', '--in-doubt', '--json')).stdout)).toEqual([]);
    const again = await home.run(...ask);
    expect([again.code, again.stdout], again.stderr).toEqual([0, '']);
    expect(again.stderr).toMatch(/^no call of run \w+ is in doubt$/mu);
    expect(changes(home.server)).toMatchObject({ posts: 1, postsDone: 1 });
  });

  test('is over when the service shows that it did not happen, and nothing is sent in its place', async (context) => {
    const { expect } = context;
    const killed = killing();
    const home = await bench(context, {
      trouble: (call) => killed.trouble(call) && { work: false, answerAfterMs: 60_000 },
      idsInRow: true,
    });
    await killed.run(home, 'backups', 'create', ...ORDERS, '--yes');
    const asked = await home.run('resume', '--look');
    expect(asked.code, asked.stderr).toBe(0);
    expect(asked.stdout).toMatch(/^createBackup of \S+ \S+ UTC became nothing: .*never arrived$/mu);
    expect(changes(home.server)).toMatchObject({ posts: 1, postsDone: 0 });
    expect((await home.run('audit', 'verify')).code).toBe(0);
  });

  test('stays in doubt when nothing shows its outcome; the command exits with 5 and names both ways to go on', async (context) => {
    const { expect } = context;
    const home = await bench(context, { trouble: once({ work: false, answer: 'lost' }) });
    const doubtful = await home.run('instance', 'restart', ...ORDERS, '--yes');
    expect(doubtful.code, doubtful.stderr).toBe(5);
    expect(doubtful.stderr).toMatch(/lifeboat resume \w+ --look$/mu);
    const asked = await home.run('resume', 'last', '--look');
    expect([asked.code, asked.stdout], asked.stderr).toEqual([5, '']);
    expect(asked.stderr).toMatch(/^hint: to decide in a terminal: lifeboat resume \w+$/mu);
    expect(changes(home.server)).toMatchObject({ patches: 1 });
  });

  test('is listed with the run that sent it; that run looks it up and goes no further', async (context) => {
    const { expect } = context;
    const killed = killing();
    const home = await bench(context, { trouble: killed.trouble });
    await killed.run(home, 'run', 'change-instance', '--action', 'restart', ...SURE, '--yes');
    const listed = itemsIn((await home.run('runs', '--in-doubt', '--json')).stdout);
    expect(listed).toMatchObject([{ instance: 'orders', verb: 'restart', isOpen: true }]);
    const { run: runId } = listed[0] as { readonly run: string };
    const table = await home.run('runs', '--in-doubt');
    expect(table.stdout).toMatch(new RegExp(`^orders .*${runId} +open +restart`, 'mu'));
    const asked = await home.run('resume', runId, '--look');
    expect([0, 5], asked.stderr).toContain(asked.code);
    expect(changes(home.server)).toMatchObject({ patches: 1 });
  });

  test('of an instance that has left the config is still listed by its name', async (context) => {
    const { expect } = context;
    const home = await bench(context, { trouble: once({ work: false, answer: 'lost' }) });
    expect((await home.run('instance', 'restart', ...ORDERS, '--yes')).code).toBe(5);
    const config = home.env['LIFEBOAT_CONFIG'] ?? '';
    writeFileSync(config, readFileSync(config, 'utf8').replace('orders:', 'renamed:'));
    const listed = await home.here('runs', '--in-doubt', '--json');
    expect([listed.code, itemsIn(listed.stdout)], listed.stderr).toEqual([
      0,
      [expect.objectContaining({ instance: 'orders' })],
    ]);
  });

  test('is not looked up at another instance that now has the name, nor sent again under a new name of its own', async (context) => {
    const { expect } = context;
    const home = await bench(context, { trouble: once({ work: false, answer: 'lost' }) });
    const killed = await home.run('instance', 'restart', ...ORDERS, '--yes');
    expect(killed.code, killed.stderr).toBe(5);
    const sent = changes(home.server);
    const config = home.env['LIFEBOAT_CONFIG'] ?? '';
    const text = readFileSync(config, 'utf8');
    const swapped = text.replace('  orders:', '  x:').replace('  orders-dr:', '  orders:');
    writeFileSync(config, swapped.replace('  x:', '  shop:'));
    for (const words of [
      ['resume', 'last', '--look'],
      ['resume', 'last', '--became', 'nothing', '--reason', 'seen there'],
      ['instance', 'restart', ...ORDERS, '--yes'],
    ]) {
      const elsewhere = await home.run(...words);
      expect(elsewhere.code, elsewhere.stderr).toBe(2);
      expect(elsewhere.stderr).toContain(home.server.urlOf('orders'));
      expect(elsewhere.stderr).toContain('put back the address that');
    }
    const shop = ['--instance', 'shop'];
    for (const words of [
      ['instance', 'restart', ...shop, '--yes'],
      ['run', 'change-instance', ...shop, '--action', 'restart', '--yes', '--confirm', 'shop'],
    ]) {
      const renamed = await home.run(...words);
      expect(renamed.code, renamed.stderr).toBe(5);
      expect(renamed.stderr).toContain('this instance was called orders then');
    }
    expect(changes(home.server)).toEqual(sent);
    writeFileSync(config, text);
    const asked = await home.run('resume', 'last', '--look');
    expect([0, 5], asked.stderr).toContain(asked.code);
  });

  test('must exist for a person to decide it: otherwise the decision is refused and the run is not driven on', async (context) => {
    const { expect } = context;
    const home = await bench(context, {});
    const restored = await home.run('backups', 'restore', '900041', ...SURE);
    expect(restored.code, restored.stderr).toBe(3);
    const sent = changes(home.server);
    for (const became of ['nothing', 'done', '900041']) {
      const words = ['--became', became, '--reason', 'seen on the dashboard', '--yes', '--json'];
      const decided = await home.run('resume', 'last', ...words);
      expect([decided.code, decided.stdout], decided.stderr).toEqual([2, '']);
      expect(decided.stderr).toContain('"code":"usage.became"');
    }
    expect(changes(home.server)).toEqual(sent);
    expect(itemsIn((await home.run('runs', '--open', '--json')).stdout)).toHaveLength(1);
  });

  test('does not exist: the command says so and sends nothing', async (context) => {
    const { expect } = context;
    const home = await bench(context, {});
    const listed = await home.run('runs', '--in-doubt');
    expect([listed.code, listed.stdout, listed.stderr]).toEqual([0, '', 'no call is in doubt\n']);
    const asked = await home.run('resume', '--look');
    expect([asked.code, asked.stdout]).toEqual([2, '']);
    expect(changes(home.server)).toMatchObject({ posts: 0, patches: 0 });
  });

  test('is not in doubt where only the wait lacks a token: exit 4 names the run, which goes on with another token', async (context) => {
    const { expect } = context;
    const home = await bench(context, {
      trouble: ({ method, path }) => {
        const isWaiting = method === 'GET' && /\/backups\/\d+$/u.test(path);
        if (isWaiting) home.server.acceptOnly(CANARIES.otherToken);
        return undefined;
      },
    });
    const waits = await home.run('backups', 'create', ...ORDERS, '--yes', '--wait');
    expect(waits.code, waits.stderr).toBe(4);
    expect(waits.stderr).toMatch(/^hint: the run is open: lifeboat resume \w+$/mu);
    writeFileSync(join(home.folder, 'token'), CANARIES.otherToken);
    const goesOn = await home.run('resume', '--yes');
    expect(goesOn.code, goesOn.stderr).toBe(0);
    expect(changes(home.server)).toMatchObject({ posts: 1 });
  });
});
