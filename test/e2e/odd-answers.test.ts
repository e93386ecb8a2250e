import { describe, test } from 'vitest';
import type { InstanceStatus } from '../../src/view/fleet/status-schema.ts';
import { itemsIn } from '../bench-kit/results.ts';
import { useQuickBenches } from '../bench-kit/test-bench.ts';

const ROW = { status: 'done', size: 10, triggered_at: new Date().toISOString(), downloadable: true };
const ROWS = [
  { id: 900001, backup_id: 'g-1', ...ROW },
  { id: 900002, backup_id: 'g-2', ...ROW, status: null },
];
const ORDERS = ['--instance', 'orders'] as const;

describe.concurrent('an answer of the service without usable content', () => {
  const bench = useQuickBenches();

  test('that there is no range gives one error code, in a single command and in a run', async (context) => {
    const { expect } = context;
    const { run } = await bench(context, {
      trouble: ({ path }) => (path.endsWith('/pitr') ? { answer: { status: 404, body: {} } } : undefined),
    });
    const show = await run('pitr', 'show', ...ORDERS, '--json');
    const restore = await run('run', 'restore-point-in-time', ...ORDERS, '--yes', '-o', 'json');
    expect(show.stderr + show.stdout).toContain('pitr.not-available');
    expect(restore.stderr + restore.stdout).toContain('pitr.not-available');
  });

  test.for([{}, { start_time: null, end_time: null }, { start_time: '2026-11-21T03:00:00Z' }])(
    'about a range of times is an error, also for a script: %j',
    async (body, context) => {
      const { expect } = context;
      const { run } = await bench(context, {
        trouble: ({ path }) => (path.endsWith('/pitr') ? { answer: { status: 200, body } } : undefined),
      });
      for (const args of [[], ['--json']]) {
        const { code, stdout, stderr } = await run('pitr', 'show', ...ORDERS, ...args);
        expect(stderr + stdout).toContain('the service reports no range of times');
        expect(code).toBe(1);
      }
    },
  );

  test('about one backup hides no other backup, and status and doctor report it', async (context) => {
    const { expect } = context;
    const { run } = await bench(context, {
      trouble: ({ method, path }) =>
        method === 'GET' && /orders\b.*\/backups$/.test(path)
          ? { answer: { status: 200, body: ROWS } }
          : undefined,
    });
    const words = 'backup 900002 in the list cannot be read (status)';
    const [status] = itemsIn<InstanceStatus>((await run('status', 'orders', '--json')).stdout);
    expect(status?.cautions).toContainEqual(expect.stringContaining(words));
    expect(status?.newestBackup).toMatchObject({ id: 900001 });
    expect((await run('status', 'orders')).stdout).toContain(words);
    const checks = itemsIn<{ what: string; state: string; hints: string[] }>(
      (await run('doctor', '--json')).stdout,
    );
    expect(checks.find(({ what }) => what === 'orders: backups')).toMatchObject({
      state: 'warn',
      found: '1 can be read, 1 cannot',
      hints: [expect.stringContaining(words)],
    });
  });

  test.for([62, 'v0'] as const)(
    'for an unknown id (revision %s) names the id, and how to list the others',
    async (revision, context) => {
      const { expect } = context;
      const { run } = await bench(context, { revision, configRevision: 'auto' });
      for (const what of ['backup', 'restore']) {
        const { code, stderr } = await run(`${what}s`, 'get', '900099', ...ORDERS);
        expect(stderr).toContain(`lifeboat: the service does not know ${what} 900099 of orders`);
        expect(stderr).toContain(`lifeboat ${what}s list --instance orders`);
        expect(code).toBe(1);
      }
    },
  );
});
