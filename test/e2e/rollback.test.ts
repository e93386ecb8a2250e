import { appendFileSync, cpSync, mkdirSync, readdirSync, rmSync, statSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'vitest';
import { forge } from '../audit/forge.ts';
import { personAt } from '../bench-kit/person.ts';
import { runProduct } from '../bench-kit/product.ts';
import { hasTerminal } from '../bench-kit/pseudo-terminal.ts';
import { openTerminal } from '../bench-kit/terminal.ts';
import { useQuickBenches } from '../bench-kit/test-bench.ts';
import {
  accept,
  database,
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

/** Bytes of a page of SQLite, unless it is told otherwise. */
const PAGE = 4_096;

describe.concurrent('a call that was killed while its answer was awaited is not sent again', () => {
  const benches = useQuickBenches();

  test('when the write-ahead log is lost: it is in doubt once the loss is accepted', async (context) => {
    const { expect } = context;
    const { bench, restore } = await killedRestore(await benches(context, UNANSWERED));
    loseLog(bench);
    const again = await bench.run(...restore);
    refused(expect, again, ROLLED_BACK);
    expect(again.stderr).toMatch(
      /armed in the lost part: restoreBackup on orders, by run \w+, sent .* UTC; its outcome is not known/u,
    );
    const runs = await bench.here('runs');
    expect(runs.code, runs.stderr).toBe(0);
    expect(runs.stderr).toMatch(/^warning: the journal was rolled back: .*; see lifeboat doctor$/mu);
    expect((await bench.here('audit', 'verify')).code).toBe(1);
    const unsure = await bench.run('audit', 'accept-loss', '--reason', 'the disk was changed');
    expect([unsure.code, sent(bench)], unsure.stderr).toEqual([3, 1]);
    const accepted = await bench.run(
      'audit',
      'accept-loss',
      '--reason',
      'the disk was changed',
      '--confirm',
      originIn(bench),
    );
    expect(accepted.code, accepted.stderr).toBe(0);
    expect(accepted.stdout).toContain('accepted: 1 call in doubt');
    const asked = await bench.run(...restore);
    expect([asked.code, sent(bench)], asked.stderr).toEqual([5, 1]);
    expect(asked.stderr).toContain(
      'the record of the call is lost, and the service shows 1 restore since it was sent',
    );
    const [id] = /(?<=it may be restore )\d+/u.exec(asked.stderr) ?? [''];
    const word = /lifeboat resume (\S+) --became/u.exec(asked.stderr)?.[1] ?? '';
    const known = ['--became', id, '--reason', 'the dashboard shows it'];
    const resolved = await bench.run('resume', word, ...known);
    expect(resolved.code, resolved.stderr).toBe(0);
    const doctor = await bench.run('doctor', '--json');
    expect(doctor.stdout).toContain('journal: loss');
    expect(doctor.stdout).toContain('the disk was changed');
    await killedAtAnswer(bench, ...restore);
    expect(sent(bench)).toBe(2);
  });

  test.skipIf(!hasTerminal())(
    'Ctrl-C at the question of accept-loss writes nothing and gives the terminal back',
    async (context) => {
      const { expect } = context;
      const bench = await benches(context, UNANSWERED);
      await lived(bench);
      rmSync(join(bench.home, 'checkpoints', originIn(bench)), { recursive: true });
      const accept = ['audit', 'accept-loss', '--reason', 'tidied up'];
      const screen = personAt(openTerminal(bench.product, bench, accept), expect);
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

  test.for([
    ['ends in its middle', 0.5],
    ['ends after its first page', 0],
  ] as const)(
    'when the log is lost and the database %s: it is set aside, and the call is in doubt',
    async ([, part], context) => {
      const { expect } = context;
      const { bench, restore } = await killedRestore(await benches(context, UNANSWERED));
      loseLog(bench);
      const pages = Math.max(1, Math.floor((statSync(database(bench)).size / PAGE) * part));
      truncateSync(database(bench), pages * PAGE);
      const refusal = await bench.run(...restore);
      refused(expect, refusal, /^lifeboat: .*lifeboat\.db cannot be read: /mu);
      expect(refusal.stderr).toContain('`keys list`, `audit verify` and downloads still work');
      const keys = await bench.here('keys', 'list', '--json');
      expect(keys.code, keys.stderr).toBe(1);
      expect(JSON.parse(keys.stdout)).toMatchObject({
        unread: expect.stringContaining('cannot be read'),
        items: [{ instance: 'orders', held: true, state: 'unknown' }],
      });
      expect((await bench.here('audit', 'verify')).code).toBe(1);
      const accepted = await accept(bench, 'the disk lost half of it');
      expect(accepted.code, accepted.stderr).toBe(0);
      expect(accepted.stdout).toContain('accepted: 1 call in doubt');
      expect(accepted.stdout).toMatch(/^the rest of the old journal is in .*lifeboat\.db\.lost-\d+$/mu);
      expect(readdirSync(bench.home).some((name) => name.startsWith('lifeboat.db.lost-'))).toBe(true);
      const asked = await bench.run(...restore);
      expect([asked.code, sent(bench)], asked.stderr).toEqual([5, 1]);
    },
  );

  test('when its checkpoints are deleted, unless another place has them', async (context) => {
    const { expect } = context;
    const bench = await benches(context, UNANSWERED);
    appendFileSync(join(bench.folder, 'lifeboat.yaml'), 'checkpoints: [./share]\n');
    await lived(bench);
    await lived(bench);
    const checkpoints = join(bench.home, 'checkpoints', originIn(bench));
    rmSync(checkpoints, { recursive: true });
    const warned = await bench.run('backups', 'create', ...ORDERS, '--yes');
    expect(warned.code, warned.stderr).toBe(0);
    expect(warned.stderr).toMatch(/^warning: checkpoints were removed from .*; another place has them$/mu);
    rmSync(checkpoints, { recursive: true });
    rmSync(join(bench.folder, 'share'), { recursive: true });
    mkdirSync(join(bench.folder, 'share'));
    const restore = ['backups', 'restore', await newest(bench), ...SURE];
    refused(expect, await bench.run(...restore), /^lifeboat: checkpoints were removed/mu);
    expect(sent(bench)).toBe(0);
  });

  test('an entry that was rewritten in place is named by doctor, and is not a loss that can be accepted', async (context) => {
    const { expect } = context;
    const bench = await benches(context);
    await lived(bench);
    forge(bench.home, (db) => db.exec("UPDATE entries SET body = '{}' WHERE type = 'intent.armed'"));
    const doctor = await bench.run('doctor');
    expect(doctor.code, doctor.stderr).toBe(1);
    expect(doctor.stdout).toMatch(/^BAD +entries +run\/\w+: entry \d+ was changed/mu);
    const accepted = await accept(bench, 'it is only one');
    expect(accepted.code, accepted.stderr).toBe(5);
    expect(accepted.stderr).toMatch(/^lifeboat: no entry is lost, but .* was changed/mu);
    for (const name of ['lifeboat.db', 'lifeboat.db-wal', 'lifeboat.db-shm'])
      rmSync(join(bench.home, name), { force: true });
    const anew = await accept(bench, 'somebody has rewritten it');
    expect(anew.code, anew.stderr).toBe(0);
    expect((await bench.run('doctor')).stdout).toMatch(/^ok +entries +all \d+ were hashed again/mu);
  });

  test('of two copies of a home, the second sends nothing', async (context) => {
    const { expect } = context;
    const bench = await benches(context, UNANSWERED);
    appendFileSync(join(bench.folder, 'lifeboat.yaml'), 'checkpoints: [./share]\n');
    await lived(bench);
    const copy = join(bench.folder, 'copy');
    cpSync(bench.home, copy, { recursive: true });
    const restore = ['backups', 'restore', await newest(bench), ...SURE];
    await killedAtAnswer(bench, ...restore);
    const there = runProduct(bench.product, restore, { ...bench.env, LIFEBOAT_HOME: copy });
    refused(expect, await there.ended, /rolled back/u);
    expect(sent(bench)).toBe(1);
  });
});
