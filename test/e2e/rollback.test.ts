import { appendFileSync, cpSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'vitest';
import { runProduct } from './product.ts';
import {
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
import { hasTerminal, openTerminal, personAt } from './terminal.ts';

describe.concurrent('a call that was killed while its answer was awaited is not sent again', () => {
  const houses = useHouses();

  test('when the write-ahead log is lost: it is in doubt once the loss is accepted', async (context) => {
    const { expect } = context;
    const { house, restore } = await killedRestore(await houses(context, UNANSWERED));
    loseLog(house);
    const again = await house.run(...restore);
    refused(expect, again, ROLLED_BACK);
    expect(again.stderr).toMatch(
      /armed in the lost part: restoreBackup on orders, by a single command, sent .* UTC; its outcome is not known/u,
    );
    const runs = await house.run('runs');
    expect(runs.code, runs.stderr).toBe(0);
    expect(runs.stderr).toMatch(/^warning: the journal was rolled back: .*; see lifeboat doctor$/mu);
    expect((await house.run('audit', 'verify')).code).toBe(1);
    const unsure = await house.run('audit', 'accept-loss', '--reason', 'the disk was changed');
    expect([unsure.code, sent(house)], unsure.stderr).toEqual([3, 1]);
    const accepted = await house.run(
      'audit',
      'accept-loss',
      '--reason',
      'the disk was changed',
      '--confirm',
      originIn(house),
    );
    expect(accepted.code, accepted.stderr).toBe(0);
    expect(accepted.stdout).toContain('accepted: 1 call in doubt');
    const asked = await house.run(...restore);
    expect([asked.code, sent(house)], asked.stderr).toEqual([5, 1]);
    expect(asked.stderr).toContain(
      'the record of the call is lost, and the service shows 1 restore since it was sent',
    );
    const [id] = /(?<=it may be restore )\d+/u.exec(asked.stderr) ?? [''];
    const settled = await house.run(
      'calls',
      'settle',
      ...ORDERS,
      '--became',
      id,
      '--reason',
      'the dashboard shows it',
    );
    expect(settled.code, settled.stderr).toBe(0);
    const doctor = await house.run('doctor', '--json');
    expect(doctor.stdout).toContain('journal: loss');
    expect(doctor.stdout).toContain('the disk was changed');
    await killedAtAnswer(house, ...restore);
    expect(sent(house)).toBe(2);
  });

  test.skipIf(!hasTerminal())(
    'Ctrl-C at the question of accept-loss writes nothing and gives the terminal back',
    async (context) => {
      const { expect } = context;
      const house = await houses(context, UNANSWERED);
      await lived(house);
      rmSync(join(house.home, 'checkpoints', originIn(house)), { recursive: true });
      const accept = ['audit', 'accept-loss', '--reason', 'tidied up'];
      const screen = personAt(openTerminal(house.product, house, accept), expect);
      try {
        await screen.shows('accepting it puts no call in doubt');
        await screen.shows('anything else leaves:');
        screen.type('\u0003');
        await screen.shows('rc=130');
        expect(screen.text()).toMatch(/^lifeboat: nothing was changed/mu);
        expect(screen.bytes().lastIndexOf('\u001b[?2004l')).toBeGreaterThan(
          screen.bytes().lastIndexOf('\u001b[?2004h'),
        );
      } finally {
        await screen.close();
      }
    },
  );

  test('when its checkpoints are deleted, unless another place has them', async (context) => {
    const { expect } = context;
    const house = await houses(context, UNANSWERED);
    appendFileSync(join(house.folder, 'lifeboat.yaml'), 'checkpoints: [./share]\n');
    await lived(house);
    await lived(house);
    const checkpoints = join(house.home, 'checkpoints', originIn(house));
    rmSync(checkpoints, { recursive: true });
    const warned = await house.run('backups', 'create', ...ORDERS, '--yes');
    expect(warned.code, warned.stderr).toBe(0);
    expect(warned.stderr).toMatch(/^warning: checkpoints were removed from .*; another place has them$/mu);
    rmSync(checkpoints, { recursive: true });
    rmSync(join(house.folder, 'share'), { recursive: true });
    mkdirSync(join(house.folder, 'share'));
    const restore = ['backups', 'restore', await newest(house), ...SURE];
    refused(expect, await house.run(...restore), /^lifeboat: checkpoints were removed/mu);
    expect(sent(house)).toBe(0);
  });

  test('when there are two copies of a home: whoever comes second sends nothing', async (context) => {
    const { expect } = context;
    const house = await houses(context, UNANSWERED);
    appendFileSync(join(house.folder, 'lifeboat.yaml'), 'checkpoints: [./share]\n');
    await lived(house);
    const copy = join(house.folder, 'copy');
    cpSync(house.home, copy, { recursive: true });
    const restore = ['backups', 'restore', await newest(house), ...SURE];
    await killedAtAnswer(house, ...restore);
    const there = runProduct(house.product, restore, { ...house.env, LIFEBOAT_HOME: copy });
    refused(expect, await there.ended, /rolled back/u);
    expect(sent(house)).toBe(1);
  });
});
