import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'vitest';
import { useQuickBenches } from '../bench-kit/test-bench.ts';

const PLAN = `plan: west
groups:
  - id: data
    instances: [orders]
    steps: [{ id: card, runbook: disaster-recovery, with: { phase: prepare }, undo: none; it reads }]
`;

describe('the schedules of a config', () => {
  const bench = useQuickBenches();

  test('are listed once every plan that they name is there', async (context) => {
    const { expect } = context;
    const { env, folder, run } = await bench(context);
    const rehearsal =
      'schedules: [{ name: drill, cron: "0 6 * * 1", zone: UTC, do: rehearse, plan: west }]\n';
    appendFileSync(env['LIFEBOAT_CONFIG'] ?? '', rehearsal);
    const missing = await run('schedules');
    expect([missing.code, missing.stderr]).toEqual([2, expect.stringContaining('there is no plan west')]);
    mkdirSync(join(folder, 'plans'), { recursive: true });
    writeFileSync(join(folder, 'plans', 'west.yaml'), PLAN);
    const listed = await run('schedules');
    expect([listed.code, listed.stdout]).toEqual([0, expect.stringContaining('rehearse west')]);
  });
});
