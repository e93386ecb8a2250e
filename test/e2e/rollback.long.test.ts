import { describe, test } from 'vitest';
import {
  accept,
  killedAtAnswer,
  lived,
  loseLog,
  newest,
  ORDERS,
  refused,
  SURE,
  sent,
  UNANSWERED,
} from './rolled-back.ts';
import { useHouses } from './scene.ts';

describe.concurrent('a call that was killed while its answer was awaited is not sent again', () => {
  const houses = useHouses();

  test('when it is a recreate', async (context) => {
    const { expect } = context;
    const house = await houses(context, UNANSWERED);
    await lived(house);
    const recreate = ['instance', 'recreate', ...SURE];
    await killedAtAnswer(house, ...recreate);
    loseLog(house);
    const again = await house.run(...recreate);
    refused(expect, again, /rolled back/u);
    expect(again.stderr).toContain('armed in the lost part: recreate on orders');
    expect(sent(house)).toBe(1);
  });

  test('when a run of restore-backup sent it; every report of the store begins with the loss', async (context) => {
    const { expect } = context;
    const house = await houses(context, UNANSWERED);
    await lived(house);
    const run = ['run', 'restore-backup', ...SURE, '--yes', '--backup', await newest(house)];
    await killedAtAnswer(house, ...run);
    loseLog(house);
    const again = await house.run(...run);
    refused(expect, again, /rolled back/u);
    expect(again.stderr).toMatch(/armed in the lost part: restoreBackup on orders, by run \w+/u);
    refused(expect, await house.run('resume'), /rolled back/u);
    const accepted = await accept(house, 'no copy');
    expect(accepted.code, accepted.stderr).toBe(0);
    const next = await house.run(...run);
    expect([next.code, sent(house)], next.stderr).toEqual([5, 1]);
    const settled = await house.run(
      'calls',
      'settle',
      ...ORDERS,
      '--became',
      'nothing',
      '--reason',
      'I looked',
    );
    expect(settled.code, settled.stderr).toBe(0);
    await killedAtAnswer(house, ...run);
    const { stdout } = await house.run('runs', '--json');
    const id = String(JSON.parse(stdout.split('\n')[0] ?? '').runId);
    for (const format of ['md', 'html', 'json']) {
      const report = await house.run('report', id, '--format', format);
      expect(report.stdout, report.stderr).toContain('ENTRIES LOST');
    }
  });
});
