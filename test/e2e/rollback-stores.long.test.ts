import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, type TestContext, test } from 'vitest';
import { type Cluster, startCluster } from '../bench-kit/postgres.ts';
import type { TestBench } from '../bench-kit/test-bench.ts';
import { useBenches } from '../bench-kit/test-bench.ts';
import { databaseOn, type HurtStore, hurtSqlite } from './hurt-stores.ts';
import {
  accept,
  killedAtAnswer,
  killedRestore,
  lived,
  newest,
  originIn,
  ROLLED_BACK,
  refused,
  SURE,
  sent,
  UNANSWERED,
} from './rolled-back.ts';

let cluster: Cluster;
let parts = 0;
beforeAll(async () => {
  cluster = await startCluster({ open: true });
});
afterAll(() => cluster?.remove());

describe.for(['sqlite', 'postgresql'] as const)('a store on %s', (engine) => {
  const benches = useBenches({ cheapVault: true, leaseMs: 3_000 }, { commandsHere: true });
  let made = 0;

  /** A bench whose restore was killed at its answer, and its store. */
  async function killed(context: TestContext) {
    const { bench, hurt } = await open(context);
    const { restore } = await killedRestore(bench, hurt.keep);
    return { bench, hurt, restore, origin: originIn(bench) };
  }

  async function open(context: TestContext): Promise<{ bench: TestBench; hurt: HurtStore }> {
    if (engine === 'sqlite') {
      const bench = await benches(context, UNANSWERED);
      return { bench, hurt: hurtSqlite(bench) };
    }
    made += 1;
    const { address: store, hurt } = await databaseOn(cluster, `rolled_back_${made}`);
    const bench = await benches(context, { ...UNANSWERED, store });
    await bench.run('store', 'init');
    return { bench, hurt };
  }

  /**
   * The loss is accepted, and the call that was killed is in doubt: whatever asks for it again sends nothing.
   */
  async function acceptedOnce(
    { expect }: TestContext,
    { bench, restore, origin }: Awaited<ReturnType<typeof killed>>,
  ) {
    const accepted = await accept(bench, 'no copy', origin);
    expect(accepted.code, accepted.stderr).toBe(0);
    let asked = await bench.run(...restore);
    // The lease of the process that was killed may last a little longer.
    while (asked.stderr.includes('is held by')) asked = await bench.run(...restore);
    // A person is asked, or the service shows without doubt what became of it.
    expect([3, 5], asked.stderr).toContain(asked.code);
    expect(asked.stderr).toContain('an earlier call, restoreBackup of');
    expect(sent(bench)).toBe(1);
  }

  test('is refused when the copy of yesterday is put back, and continues once that is accepted', async (context) => {
    const { expect } = context;
    const scene = await killed(context);
    const { bench, hurt, restore } = scene;
    await hurt.putBack();
    const again = await bench.run(...restore);
    refused(expect, again, ROLLED_BACK);
    expect(again.stderr).toMatch(/armed in the lost part: restoreBackup on orders, by run \w+/u);
    expect(again.stderr.includes('lifeboat.db')).toBe(engine === 'sqlite');
    expect((await bench.run('runs')).stderr).toMatch(/^warning: the journal was rolled back: /mu);
    await acceptedOnce(context, scene);
  });

  test('whose last rows are deleted continues after the remaining ones, by the command that is printed', async (context) => {
    const { expect } = context;
    const scene = await killed(context);
    const { bench, hurt, restore, origin } = scene;
    await hurt.deleteRows(`leaf >= ${hurt.kept}`);
    refused(expect, await bench.run(...restore), ROLLED_BACK);
    expect((await bench.run('runs')).code).toBe(0);
    if (engine === 'postgresql') {
      const barred = await accept(bench, 'no copy', origin);
      expect(barred.code, barred.stderr).toBe(5);
      expect(barred.stderr).not.toContain('lifeboat.db');
      await hurt.run(barred.stderr.match(/(?<=^hint: )(?:begin;|delete|alter) .*;$/gmu)?.join('\n') ?? '');
      refused(expect, await bench.run(...restore), ROLLED_BACK);
    }
    await acceptedOnce(context, scene);
    const verified = await bench.run('audit', 'verify');
    expect(verified.code, verified.stdout).toBe(3);
  });

  test('whose last rows and heads are deleted continues after the remaining ones', async (context) => {
    const { expect } = context;
    const scene = await killed(context);
    const { bench, hurt, restore } = scene;
    await hurt.deleteRows(`leaf >= ${hurt.kept}`);
    await hurt.deleteHeads(hurt.kept);
    refused(expect, await bench.run(...restore), ROLLED_BACK);
    await acceptedOnce(context, scene);
    const { stdout } = await bench.run('doctor', '--deep', '--json');
    expect(stdout).toContain('they match the entries of the journal');
  });

  test('names the call even if only its arming is deleted', async (context) => {
    const { expect } = context;
    const scene = await killed(context);
    const { bench, hurt, restore } = scene;
    const other = await bench.run('backups', 'create', '--instance', 'orders-dr', '--yes');
    expect(other.code, other.stderr).toBe(0);
    const armed = (await bench.entries()).find(
      ({ type, body }) => type === 'intent.armed' && JSON.stringify(body).includes('restoreBackup'),
    );
    await hurt.deleteRows(`leaf >= ${hurt.kept} and type = 'intent.armed' and stream = '${armed?.stream}'`);
    const again = await bench.run(...restore);
    refused(expect, again, /entries were removed from the journal: \d+ were signed, \d+ are left$/mu);
    expect(again.stderr).toContain('armed in the lost part: restoreBackup on orders');
    await acceptedOnce(context, scene);
    const verified = await bench.run('audit', 'verify');
    expect(verified.code, verified.stdout).toBe(3);
    expect(verified.stdout).toMatch(
      /^limit: store\/log: 1 of the first \d+ entries of this store are lost; /mu,
    );
    expect(verified.stdout).toMatch(/ consistent, but not all of it is pinned: .*1 of the first /u);
    // A further rollback is found as before.
    await hurt.deleteRows(`leaf > ${hurt.kept} and type = 'run.closed'`);
    const another = await bench.run('audit', 'verify');
    expect(another.code, another.stdout).toBe(1);
    expect(another.stdout).toMatch(/^problem: .* leaf \d+ is where leaf \d+ has to be$/mu);
  });

  test('that is emptied starts again only when a person accepts the loss', async (context) => {
    const { expect } = context;
    const scene = await killed(context);
    const { bench, hurt, restore } = scene;
    await hurt.empty();
    const again = await bench.run(...restore);
    refused(expect, again, /^lifeboat: the journal is empty or gone, but there was one/mu);
    expect(again.stderr).toContain('lifeboat store copy --from OLD --to NEW');
    await acceptedOnce(context, scene);
    const entries = await bench.entries();
    expect(entries.filter(({ stream }) => stream === 'store/log').map(({ type }) => type)).toEqual([
      'log.begun',
      'loss.accepted',
    ]);
  });

  test('whose checkpoints are deleted sends nothing until that is accepted', async (context) => {
    const { expect } = context;
    const scene = await killed(context);
    const { bench, restore, origin } = scene;
    const other = await bench.run('backups', 'create', '--instance', 'orders-dr', '--yes');
    expect(other.code, other.stderr).toBe(0);
    for (const place of [join(bench.home, 'checkpoints'), join(bench.folder, 'shared')])
      rmSync(join(place, origin), { recursive: true, force: true });
    refused(expect, await bench.run(...restore), /^lifeboat: checkpoints were removed/mu);
    await acceptedOnce(context, scene);
  });
});

function sharedFolder({ onTestFinished }: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'lifeboat-shared-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

describe('a team’s store', () => {
  const benches = useBenches({ cheapVault: true, leaseMs: 3_000 }, { commandsHere: true });
  const last = (back: number) => `(select id from lifeboat.leaves order by leaf desc offset ${back} limit 1)`;

  test.for([
    ['the leaf of its last row', `delete from lifeboat.leaves where id = ${last(0)}`],
    ['its last row', `delete from lifeboat.entries where id = ${last(0)}`],
    [
      'its last row with its leaf',
      `delete from lifeboat.entries where id = ${last(0)}; delete from lifeboat.leaves where id = ${last(0)}`,
    ],
    [
      'the row before its last, and the leaf of that',
      `delete from lifeboat.entries where id = ${last(1)}; delete from lifeboat.leaves where id = ${last(0)}`,
    ],
    [
      'the row before its last with its leaf',
      `delete from lifeboat.entries where id = ${last(1)}; delete from lifeboat.leaves where id = ${last(1)}`,
    ],
  ])('whose last append lost %s continues by the command that is printed', async ([, sql = ''], context) => {
    const { expect } = context;
    parts += 1;
    const { address: store, hurt } = await databaseOn(cluster, `in_part_${parts}`);
    const bench = await benches(context, { ...UNANSWERED, store });
    await bench.run('store', 'init');
    const { restore } = await killedRestore(bench);
    const origin = originIn(bench);
    const other = await bench.run('backups', 'create', '--instance', 'orders-dr', '--yes');
    expect(other.code, other.stderr).toBe(0);
    const guards = ['entries', 'leaves'].map((table) => [
      `alter table lifeboat.${table} disable trigger all;`,
      `alter table lifeboat.${table} enable always trigger ${table}_append_only;`,
    ]);
    await hurt.run(`${guards.map(([off]) => off).join('')} ${sql}; ${guards.map(([, on]) => on).join('')}`);
    for (let tries = 0; ; tries += 1) {
      const accepted = await accept(bench, 'no copy', origin);
      if (accepted.code === 0) break;
      expect([accepted.code, tries], accepted.stderr).toEqual([5, 0]);
      expect(accepted.stderr).not.toContain('lifeboat.db');
      await hurt.run(accepted.stderr.match(/(?<=^hint: )(?:begin;|delete|alter) .*;$/gmu)?.join('\n') ?? '');
    }
    const asked = await bench.run(...restore);
    expect([asked.code, sent(bench)], asked.stderr).toEqual([3, 1]);
    const verified = await bench.run('audit', 'verify');
    expect(verified.code, verified.stdout).toBe(3);
  });

  test('that was emptied and restarted by a colleague does not hide a call without an outcome', async (context) => {
    const { expect } = context;
    const { address: store, hurt } = await databaseOn(cluster, 'begun_anew');
    const bench = await benches(context, { ...UNANSWERED, store });
    await bench.run('store', 'init');
    const { restore } = await killedRestore(bench);
    const origin = originIn(bench);
    await hurt.empty();
    // Whose folder is another one, against what the config says of it.
    const colleague = await benches(context, { server: bench.server, store, operator: 'Kim' });
    const begun = await colleague.run('backups', 'create', '--instance', 'orders-dr', '--yes');
    expect(begun.code, begun.stderr).toBe(0);
    refused(expect, await bench.run(...restore), /^lifeboat: the journal is empty or gone/mu);
    expect((await accept(bench, 'no copy', origin)).code).toBe(0);
    const asked = await bench.run(...restore);
    expect([asked.code, sent(bench)], asked.stderr).toEqual([5, 1]);
  });

  test('that is named for the first time on a used home takes its entries by the command that is printed', async (context) => {
    const { expect } = context;
    const { address: store } = await databaseOn(cluster, 'first_time');
    const bench = await benches(context, { ...UNANSWERED, sharedPlace: sharedFolder(context) });
    await lived(bench);
    const restore = ['backups', 'restore', await newest(bench), ...SURE];
    Object.assign(bench.env, { LIFEBOAT_STORE: store });
    await bench.run('store', 'init');
    const first = await bench.run(...restore);
    refused(expect, first, /^lifeboat: the journal is empty or gone/mu);
    expect(first.stderr).toContain('lifeboat store copy --from OLD --to NEW');
    expect(first.stderr).toContain('name that one again');
    const copy = ['store', 'copy', '--from', 'sqlite', '--to', store];
    const [size = ''] = /(?<=--confirm )\d+/u.exec((await bench.run(...copy)).stderr) ?? [];
    const copied = await bench.run(...copy, '--confirm', size);
    expect(copied.code, copied.stderr).toBe(0);
    await killedAtAnswer(bench, ...restore);
    expect((await bench.run('runs', '--in-doubt')).code).toBe(0);
    expect(sent(bench)).toBe(1);
  });
});
