import { copyFileSync, existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'vitest';
import {
  database,
  deleteRows,
  killedAtAnswer,
  killedRestore,
  lived,
  loseLog,
  newest,
  ORDERS,
  originIn,
  ROLLED_BACK,
  refused,
  SURE,
  sent,
  UNANSWERED,
} from './rolled-back.ts';
import { useHouses } from './scene.ts';

describe.concurrent('a call that was killed while its answer was awaited is not sent again', () => {
  const houses = useHouses();

  test('when yesterday’s database is put back', async (context) => {
    const { expect } = context;
    const { house, restore, copy } = await killedRestore(await houses(context, UNANSWERED));
    loseLog(house);
    copyFileSync(copy, database(house));
    refused(expect, await house.run(...restore), ROLLED_BACK);
    expect(sent(house)).toBe(1);
  });

  test('when its rows are deleted', async (context) => {
    const { expect } = context;
    const { house, restore, leaf } = await killedRestore(await houses(context, UNANSWERED));
    deleteRows(house, leaf);
    refused(expect, await house.run(...restore), ROLLED_BACK);
    expect(sent(house)).toBe(1);
    const accepted = await house.run(
      'audit',
      'accept-loss',
      '--reason',
      'a hand',
      '--confirm',
      originIn(house),
    );
    expect(accepted.code, accepted.stderr).toBe(0);
    const { stdout } = await house.run('doctor', '--deep', '--json');
    expect(stdout).toContain('they are what the entries of the journal give');
    const asked = await house.run(...restore);
    expect([asked.code, sent(house)], asked.stderr).toEqual([5, 1]);
  });

  test('when the home is emptied but for the checkpoints: a new journal names the old one', async (context) => {
    const { expect } = context;
    const { house, restore } = await killedRestore(await houses(context, UNANSWERED));
    for (const name of readdirSync(house.home))
      if (name !== 'checkpoints' && name !== 'vault.age') rmSync(join(house.home, name), { recursive: true });
    const origin = originIn(house);
    refused(
      expect,
      await house.run(...restore),
      /^lifeboat: the journal is empty or gone, and there was one/mu,
    );
    expect(existsSync(database(house))).toBe(false);
    const accepted = await house.run('audit', 'accept-loss', '--reason', 'stolen', '--confirm', origin);
    expect(accepted.code, accepted.stderr).toBe(0);
    const asked = await house.run(...restore);
    expect([asked.code, sent(house)], asked.stderr).toEqual([5, 1]);
    const entries = await house.entries();
    expect(entries.filter(({ stream }) => stream === 'store/log').map(({ type }) => type)).toEqual([
      'log.begun',
      'loss.accepted',
    ]);
    expect(existsSync(join(house.home, 'checkpoints', origin))).toBe(true);
  });

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
    const accepted = await house.run(
      'audit',
      'accept-loss',
      '--reason',
      'no copy',
      '--confirm',
      originIn(house),
    );
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
