import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, test } from 'vitest';
import type { Evaluation } from '../../src/plans/evaluation-schema.ts';
import type { Finding } from '../../src/store/projections/evaluations.ts';
import { CANARIES } from '../bench-kit/canaries.ts';
import { startForeignCapi } from '../bench-kit/foreign/capi.ts';
import { itemsIn } from '../bench-kit/results.ts';
import { changes, useQuickBenches } from '../bench-kit/test-bench.ts';

interface Item extends Evaluation {
  readonly instance: string;
  readonly findings: readonly Finding[];
  readonly changed: boolean;
}

const PREPARE = ['run', 'disaster-recovery', 'orders', '--prepare', '--yes', '--confirm', 'orders'];

describe.concurrent('lifeboat plans evaluate', () => {
  const bench = useQuickBenches();

  test('records a verdict and its findings once, and closes them at the next green result', async (context) => {
    const { expect } = context;
    const { here, run, rotate, server } = await bench(context);
    const evaluate = async (...more: readonly string[]) => {
      const ended = await here('plans', 'evaluate', '-i', 'orders', ...more);
      return { ...ended, item: more.includes('--json') ? itemsIn<Item>(ended.stdout)[0] : undefined };
    };
    const entries = async () =>
      (await here('audit', 'show', '-i', 'orders')).stdout
        .split('\n')
        .filter((line) => line.includes('evaluated: '));

    const first = await evaluate('--json');
    expect(first.code, first.stderr).toBe(1);
    expect(first.item).toMatchObject({ instance: 'orders', verdict: 'not-ready', changed: true });
    expect(first.item?.findings.map(({ check }) => check)).toContain('recovery-card');
    expect(changes(server)).toMatchObject({ patches: 0, posts: 0 });
    const again = await evaluate('--json');
    expect(again.item).toMatchObject({ verdict: 'not-ready', changed: false, since: expect.any(String) });
    expect(again.item?.findings).toEqual(first.item?.findings);
    expect(await entries()).toHaveLength(1);

    expect((await rotate()).code).toBe(0);
    const prepared = await run(...PREPARE);
    expect(prepared.code, prepared.stderr).toBe(0);
    const ready = await evaluate('--json');
    expect(ready.code, ready.stdout).toBe(0);
    expect(ready.item).toMatchObject({ verdict: 'ready', changed: true });
    expect(ready.item?.findings.map(({ check }) => check)).toEqual(['restored']);
    expect(await entries()).toHaveLength(2);
    const table = (await evaluate()).stdout;
    expect(table).toMatch(/^orders: READY since .* UTC: it was never restored or rehearsed$/mu);
    expect(table).toMatch(/^recovery-card +green +\d+\w+ +30d +the recovery card was made on /mu);
    expect(table).toMatch(/^restored +RED /mu);
  });

  test('finds that the platform user has only read rights, and closes the finding as soon as the user has more', async (context) => {
    const { expect } = context;
    const { here, env, folder, server } = await bench(context);
    const readOnlyToken = 'a-token-that-may-only-look';
    const capi = await startForeignCapi({ token: CANARIES.otherToken, readOnlyToken });
    context.onTestFinished(capi.close);
    capi.land.addInstance({
      name: 'orders',
      space: capi.land.addSpace('prod', 'acme'),
      dashboardUrl: server.urlOf('orders'),
    });
    const token = join(folder, 'platform-token');
    const path = env['LIFEBOAT_CONFIG'] ?? '';
    const platform = `platform: { api: "${capi.url}", token: { file: ./platform-token } }`;
    writeFileSync(path, readFileSync(path, 'utf8').replace('platform: none', platform));
    const right = async () => {
      const { stdout } = await here('plans', 'evaluate', '-i', 'orders', '--json');
      return itemsIn<Item>(stdout)[0]?.checks.find(({ id }) => id === 'manage');
    };
    writeFileSync(token, `bearer ${readOnlyToken}\n`, { mode: 0o600 });
    expect(await right()).toMatchObject({ state: 'red', code: 'platform.read-only' });
    writeFileSync(token, `bearer ${CANARIES.otherToken}\n`);
    expect(await right()).toMatchObject({ state: 'green' });
    expect(capi.wishes).toEqual([]);
    await capi.close();
    expect(await right()).toMatchObject({ state: 'unknown', code: 'platform.unreachable' });
  });

  test('exits with 3 where an instance is UNKNOWN and none is NOT READY, and waives the checks that the config waives', async (context) => {
    const { expect } = context;
    let isLost = false;
    const { here, rotate, run, env, tokenFile } = await bench(context, {
      trouble: ({ instance }) => (isLost && instance === 'orders' ? { answer: 'lost' } : undefined),
    });
    expect((await rotate()).code).toBe(0);
    expect((await run(...PREPARE)).code).toBe(0);
    isLost = true;
    const unknown = await here('plans', 'evaluate', '-i', 'orders', '--json');
    expect(unknown.code, unknown.stdout).toBe(3);
    const verdicts = itemsIn<Item>(unknown.stdout).map(({ instance, verdict }) => [instance, verdict]);
    expect(verdicts).toContainEqual(['orders', 'unknown']);
    isLost = false;

    const config = readFileSync(env['LIFEBOAT_CONFIG'] ?? '', 'utf8');
    writeFileSync(tokenFile, `${CANARIES.otherToken}\n`);
    expect((await here('plans', 'evaluate')).code).toBe(1);
    const waived = ['reachable', 'newest-backup', 'key-opens', 'pitr'].map(
      (check) =>
        `  - { instance: orders, check: ${check}, reason: the login is down, until: 9999-12-31, owner: platform }`,
    );
    appendFileSync(env['LIFEBOAT_CONFIG'] ?? '', `waivers:\n${waived.join('\n')}\n`);
    const excused = await here('plans', 'evaluate', '-i', 'orders');
    expect(excused.code, excused.stdout).toBe(0);
    expect(excused.stdout).toContain('waived by platform until 9999-12-31 00:00:00 UTC: the login is down');
    expect(excused.stdout).toMatch(/^finding: reachable: owner platform, first seen /mu);

    const over = waived.map((line) => line.replace('9999', '2020'));
    writeFileSync(env['LIFEBOAT_CONFIG'] ?? '', `${config}\nwaivers:\n${over.join('\n')}\n`);
    const ended = await here('plans', 'evaluate', '-i', 'orders', '--json');
    expect(ended.code).toBe(1);
    expect(itemsIn<Item>(ended.stdout)[0]?.findings.map(({ check }) => check)).toContain('waivers');
  });

  test('that did not run for two periods is a finding of status, and is notified once', async (context) => {
    const { expect } = context;
    const { run, env, folder } = await bench(context);
    const told = join(folder, 'told');
    const config = env['LIFEBOAT_CONFIG'] ?? '';
    appendFileSync(
      config,
      `evaluate: { every: 1s }\nnotify: [{ name: file, command: 'cat >> ${told}; echo >> ${told}' }]\n`,
    );
    const due = await run('status', 'orders');
    expect(due.stdout).toContain('orders: evaluated: this home has never evaluated it');
    await run('notify', 'send');
    await run('notify', 'send');
    const notices = readFileSync(told, 'utf8').trim().split('\n');
    expect(notices.map((line) => JSON.parse(line))).toEqual([
      expect.objectContaining({ event: 'evaluation-due', command: 'lifeboat plans evaluate' }),
    ]);
    // A busy machine takes longer than two seconds for one evaluation.
    writeFileSync(config, readFileSync(config, 'utf8').replace('every: 1s', 'every: 1h'));
    const evaluated = await run('plans', 'evaluate', '--json');
    const [item] = itemsIn<Item>(evaluated.stdout);
    expect(item?.checks.find(({ id }) => id === 'evaluated')?.state).toBe('green');
  });

  test('that a plan asks for and that did not run is notified once for the plan, as is a missing rehearsal', async (context) => {
    const { expect } = context;
    const { run, env, folder } = await bench(context);
    const told = join(folder, 'told');
    const config = env['LIFEBOAT_CONFIG'] ?? '';
    appendFileSync(config, `notify: [{ name: file, command: 'cat >> ${told}; echo >> ${told}' }]\n`);
    mkdirSync(join(dirname(config), 'plans'));
    writeFileSync(
      join(dirname(config), 'plans', 'west.yaml'),
      'plan: west\nevaluate: { every: 1h }\ndrill: { every: 90d }\n' +
        'groups: [{ id: look, for: { instances: [orders] }, steps: [{ id: see, check: { tcp: "127.0.0.1:1" } }] }]\n',
    );
    await run('notify', 'send');
    await run('notify', 'send');
    const notices = readFileSync(told, 'utf8').trim().split('\n');
    expect(notices.map((line) => JSON.parse(line) as object)).toEqual([
      expect.objectContaining({ event: 'evaluation-due', command: 'lifeboat plans evaluate west' }),
      expect.objectContaining({ event: 'evaluation-due', command: 'lifeboat plans run west --rehearsal' }),
    ]);
  });

  test('checks whether the target that the config names exists and is empty', async (context) => {
    const { expect } = context;
    const { run, env } = await bench(context);
    const path = env['LIFEBOAT_CONFIG'] ?? '';
    const config = readFileSync(path, 'utf8');
    writeFileSync(path, config.replace('  orders:\n', '  orders:\n    target: orders-dr\n'));
    const [item, ...others] = itemsIn<Item>(
      (await run('plans', 'evaluate', '-i', 'orders', '--json')).stdout,
    );
    expect(others).toEqual([]);
    expect(item?.checks.find(({ id }) => id === 'target')).toMatchObject({
      state: 'green',
      reason: 'target orders-dr is there and empty',
    });
  });
});
