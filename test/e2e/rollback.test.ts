import { appendFileSync, copyFileSync, cpSync, existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, type ExpectStatic, test } from 'vitest';
import type { Call, Trouble } from './foreign/call.ts';
import type { House, HouseOptions } from './house.ts';
import { type Ended, runProduct } from './product.ts';
import { useHouses } from './scene.ts';

const ORDERS = ['--instance', 'orders'] as const;
const SURE = [...ORDERS, '--confirm', 'orders'] as const;

const isDestroying = ({ method, path }: Pick<Call, 'method' | 'path'>) =>
  method === 'POST' && /\/(?:restore|recreate)$/u.test(path);

/** What destroys is done at once, and its answer does not come before its process is dead. */
const UNANSWERED: HouseOptions = {
  settle: '2s',
  trouble: (call): Trouble | undefined => (isDestroying(call) ? { answerAfterMs: 20_000 } : undefined),
};

const sent = ({ server }: House) => server.calls.filter(isDestroying).length;

async function newest(house: House): Promise<string> {
  const { stdout } = await house.run('backups', 'list', ...ORDERS, '--json');
  return String(JSON.parse(stdout)[0].id);
}

/** A home in which something was done before, all of it in the database itself. */
async function lived(house: House): Promise<void> {
  const { code, stderr } = await house.run('backups', 'create', ...ORDERS, '--yes', '--wait');
  if (code !== 0) throw new Error(stderr);
}

/** Runs a command until the service has what it sends, and kills it while it waits for the answer. */
async function killedAtAnswer(house: House, ...args: readonly string[]): Promise<void> {
  const before = sent(house);
  const running = house.start(...args);
  let isOver = false;
  void running.ended.then(() => {
    isOver = true;
  });
  while (sent(house) === before) {
    if (isOver) throw new Error(running.stderr());
    await pause(20);
  }
  running.child.kill('SIGKILL');
  await running.ended;
}

const database = ({ home }: Pick<House, 'home'>) => join(home, 'lifeboat.db');

function loseLog(house: House): void {
  for (const name of ['-wal', '-shm']) rmSync(`${database(house)}${name}`, { force: true });
}

/** Removes the newest entries as if they had never been, the signed heads with them. */
function deleteRows(house: House, down: number): void {
  const db = new DatabaseSync(database(house));
  for (const name of ['entries_no_delete', 'heads_no_delete']) db.exec(`DROP TRIGGER ${name}`);
  db.exec(`DELETE FROM entries WHERE leaf > ${down}; DELETE FROM heads WHERE size > ${down} + 1`);
  db.close();
}

function newestLeaf(house: House): number {
  const db = new DatabaseSync(database(house));
  const { leaf } = db.prepare('SELECT max(leaf) AS leaf FROM entries').get() as { leaf: number };
  db.close();
  return leaf;
}

function refused(expect: ExpectStatic, { code, stderr }: Ended, says: RegExp): void {
  expect(code, stderr).toBe(5);
  expect(stderr).toMatch(says);
  expect(stderr).toContain('lifeboat audit accept-loss --reason TEXT');
  expect(stderr).toContain('hint: nothing was sent');
}

const originIn = ({ home }: House) =>
  readdirSync(join(home, 'checkpoints')).find((name) => /^[0-9a-f]{16}$/u.test(name)) ?? 'none';

describe.concurrent('a restore that was killed while its answer was awaited is not sent again', () => {
  const houses = useHouses();
  const killed = async (context: Parameters<typeof houses>[0]) => {
    const house = await houses(context, UNANSWERED);
    await lived(house);
    const copy = join(house.folder, 'yesterday.db');
    copyFileSync(database(house), copy);
    const leaf = newestLeaf(house);
    const restore = ['backups', 'restore', await newest(house), ...SURE];
    await killedAtAnswer(house, ...restore);
    return { house, restore, copy, leaf };
  };
  const ROLLED_BACK =
    /^lifeboat: the journal was rolled back: it ends at entry \d+, and \d+ were signed in /mu;

  test('when the write-ahead log is lost: it is in doubt once the loss is accepted', async (context) => {
    const { expect } = context;
    const { house, restore } = await killed(context);
    loseLog(house);
    const again = await house.run(...restore);
    refused(expect, again, ROLLED_BACK);
    expect(again.stderr).toMatch(
      /armed in the lost part: restoreBackup on orders, by a single command, sent .* UTC; its outcome is not known/u,
    );
    expect((await house.run('runs')).code).toBe(0);
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

  test('when yesterday’s database is put back', async (context) => {
    const { expect } = context;
    const { house, restore, copy } = await killed(context);
    loseLog(house);
    copyFileSync(copy, database(house));
    refused(expect, await house.run(...restore), ROLLED_BACK);
    expect(sent(house)).toBe(1);
  });

  test('when its rows are deleted', async (context) => {
    const { expect } = context;
    const { house, restore, leaf } = await killed(context);
    deleteRows(house, leaf);
    refused(expect, await house.run(...restore), ROLLED_BACK);
    expect(sent(house)).toBe(1);
  });

  test('when the home is emptied but for the checkpoints: a new journal names the old one', async (context) => {
    const { expect } = context;
    const { house, restore } = await killed(context);
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
});

describe.concurrent('the same', () => {
  const houses = useHouses();

  test('of a recreate', async (context) => {
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

  test('of a run of restore-backup, whose report begins with the loss', async (context) => {
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
    for (const format of ['md', 'html', 'json']) {
      const report = await house.run('report', 'last', '--format', format);
      expect(report.stdout, report.stderr).toContain('ENTRIES LOST');
    }
  });

  test('of two copies of a home: whoever comes second sends nothing', async (context) => {
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
