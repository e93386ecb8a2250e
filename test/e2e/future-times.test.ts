import { readFileSync, writeFileSync } from 'node:fs';
import { describe, test } from 'vitest';
import { Report } from '../../src/report/model/model.ts';
import { useQuickBenches } from '../bench-kit/test-bench.ts';

const HOUR = 3_600_000;
const SURE = ['--instance', 'orders', '--yes', '--confirm', 'orders'] as const;

describe.concurrent('a service that writes local time as if it were UTC, five hours ahead', () => {
  const bench = useQuickBenches();

  test('is reported before a restore, makes no follow-up overdue, and meets no objective', async (context) => {
    const { expect } = context;
    const { server, run, env } = await bench(context, { stampsAheadMs: 5 * HOUR });
    const config = env['LIFEBOAT_CONFIG'] ?? '';
    const limits = '  orders:\n    objectives: { rto: 1h, rpo: 1h }\n    apps: [{ name: shop }]\n';
    writeFileSync(config, readFileSync(config, 'utf8').replace('  orders:\n    apps: []\n', limits));
    expect((await run('backups', 'create', '--instance', 'orders', '--yes', '--wait')).code).toBe(0);
    const id = String(server.backups.at(-1)?.id);
    const planned = await run('backups', 'restore', id, '--instance', 'orders');
    expect(planned.stdout + planned.stderr).toMatch(
      /backup \d+ is dated (?:4 h \d+ min|5 h) in the future: the clock or the time zone/u,
    );
    const { code, stderr } = await run('run', 'restore-backup', ...SURE, '--backup', id);
    expect(code, stderr).toBe(3);
    const open = await run('followups');
    expect(open.stdout).not.toContain('overdue');
    const reported = await run('report', 'last', '--format', 'json');
    const { rpo } = Report.parse(JSON.parse(reported.stdout)).measured ?? {};
    expect(rpo).toMatchObject({
      result: 'not decided',
      why: expect.stringContaining('clock or its time zone'),
    });
  });
});
