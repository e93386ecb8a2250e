import { describe, test } from 'vitest';
import { itemsIn } from '../bench-kit/results.ts';
import { useQuickBenches } from '../bench-kit/test-bench.ts';
import {
  accept,
  killedAtAnswer,
  lived,
  loseLog,
  newest,
  refused,
  SURE,
  sent,
  UNANSWERED,
} from './rolled-back.ts';

describe.concurrent('a call that was killed while its answer was awaited is not sent again', () => {
  const benches = useQuickBenches();

  test('when it is a recreate', async (context) => {
    const { expect } = context;
    const bench = await benches(context, UNANSWERED);
    await lived(bench);
    const recreate = ['instance', 'recreate', ...SURE];
    await killedAtAnswer(bench, ...recreate);
    loseLog(bench);
    const again = await bench.run(...recreate);
    refused(expect, again, /rolled back/u);
    expect(again.stderr).toContain('armed in the lost part: recreate on orders');
    expect(sent(bench)).toBe(1);
  });

  test('when a run of restore-backup sent it; every report of the store begins with the loss', async (context) => {
    const { expect } = context;
    const bench = await benches(context, UNANSWERED);
    await lived(bench);
    const run = ['run', 'restore-backup', ...SURE, '--yes', '--backup', await newest(bench)];
    await killedAtAnswer(bench, ...run);
    loseLog(bench);
    const again = await bench.run(...run);
    refused(expect, again, /rolled back/u);
    expect(again.stderr).toMatch(/armed in the lost part: restoreBackup on orders, by run \w+/u);
    refused(expect, await bench.run('resume'), /rolled back/u);
    const accepted = await accept(bench, 'no copy');
    expect(accepted.code, accepted.stderr).toBe(0);
    const next = await bench.run(...run);
    expect([next.code, sent(bench)], next.stderr).toEqual([5, 1]);
    const word = /lifeboat resume (lost-\S+) --became/u.exec(next.stderr)?.[1] ?? '';
    const resolved = await bench.run('resume', word, '--became', 'nothing', '--reason', 'I looked');
    expect(resolved.code, resolved.stderr).toBe(0);
    await killedAtAnswer(bench, ...run);
    const { stdout } = await bench.run('runs', '--json');
    const [{ runId: id } = { runId: '' }] = itemsIn<{ runId: string }>(stdout);
    for (const format of ['md', 'html', 'json']) {
      const report = await bench.run('report', id, '--format', format);
      expect(report.stdout, report.stderr).toContain('ENTRIES LOST');
    }
  });
});
