import { mkdirSync, readdirSync, utimesSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, test } from 'vitest';
import { itemsIn } from '../bench-kit/results.ts';
import { useQuickBenches } from '../bench-kit/test-bench.ts';
import { drillAt } from '../report/drill/drills.ts';

const PROVE = ['run', 'back-up-and-verify', '--instance', 'orders', '--yes'];

describe.concurrent('lifeboat prune', () => {
  const bench = useQuickBenches();

  test('shows what may be removed and removes nothing until that is confirmed; the journal stays whole', async (context) => {
    const { expect } = context;
    const { here, run, rotate, home } = await bench(context);
    expect((await rotate()).code).toBe(0);
    const folder = join(home, 'drills');
    for (const day of ['01', '02']) {
      const record = drillAt(`2026-03-${day}T00:00:00Z`);
      mkdirSync(join(folder, record.id), { recursive: true, mode: 0o700 });
      writeFileSync(join(folder, record.id, 'drill.json'), JSON.stringify(record));
    }
    const shown = await run('prune', '--older-than', '30d', '--drills');
    expect(shown.code, shown.stderr).toBe(3);
    expect(shown.stdout).toContain('20260301-000000');
    expect(shown.stdout).not.toContain('20260302-000000');
    expect(shown.stderr).toContain('hint: to do it: add --yes');
    expect(readdirSync(folder)).toEqual(['20260301-000000', '20260302-000000']);

    const done = await run('prune', '--older-than', '30d', '--yes', '--json');
    expect(done.code, done.stderr).toBe(0);
    expect(JSON.parse(done.stdout)).toMatchObject({
      schema: 'lifeboat.prune/1',
      items: [{ kind: 'drill', what: 'full, proven' }],
    });
    expect(readdirSync(folder)).toEqual(['20260302-000000']);
    expect((await here('audit', 'verify')).code).toBe(0);
    expect((await run('prune', '--older-than', '30d')).stderr).toContain('nothing that may be removed');
  });

  test('the remains of an earlier removal are shown, and are removed only when that is confirmed', async (context) => {
    const { expect } = context;
    const { run, home } = await bench(context);
    const folder = join(home, 'drills');
    const [left, foreign] = ['20240101-000000.removing', '20240102-000000.removing'];
    for (const name of [left, foreign])
      mkdirSync(join(folder, name, 'reports'), { recursive: true, mode: 0o700 });
    writeFileSync(join(folder, left, 'drill.lock'), '');
    writeFileSync(join(folder, foreign, 'x'), 'notes');
    const shown = await run('prune', '--older-than', '9000d', '--drills');
    expect([shown.code, shown.stdout]).toEqual([3, expect.stringContaining(left)]);
    expect(readdirSync(folder)).toEqual([left, foreign]);
    expect((await run('prune', '--older-than', '9000d', '--drills', '--yes')).code).toBe(0);
    expect(readdirSync(folder)).toEqual([foreign]);
  });

  test('a drill with a foreign file beside it is kept, with the reason', async (context) => {
    const { expect } = context;
    const { run, home } = await bench(context);
    const folder = join(home, 'drills');
    for (const day of ['01', '02', '03']) {
      const record = drillAt(`2026-03-${day}T00:00:00Z`);
      mkdirSync(join(folder, record.id), { recursive: true, mode: 0o700 });
      writeFileSync(join(folder, record.id, 'drill.json'), JSON.stringify(record));
    }
    writeFileSync(join(folder, '20260301-000000', 'signed.pdf'), 'a scan');
    const done = await run('prune', '--older-than', '30d', '--drills', '--yes');
    expect(done.code, done.stderr).toBe(0);
    expect(done.stderr).toContain('20260301-000000 stays: it holds what no drill has made: signed.pdf');
    expect(done.stdout).not.toContain('20260301-000000');
    expect(readdirSync(folder)).toEqual(['20260301-000000', '20260303-000000']);
    expect(readdirSync(join(folder, '20260301-000000'))).toContain('signed.pdf');
  });

  test('a download of a closed run is removed, the one that proves the key is kept', async (context) => {
    const { expect } = context;
    const { here, run, rotate, home } = await bench(context);
    expect((await rotate()).code).toBe(0);
    expect((await run(...PROVE)).code).toBe(0);
    const runs = itemsIn<{ readonly runId: string }>((await here('runs', '--json')).stdout);
    const runId = runs.at(-1)?.runId;
    const folder = join(home, 'backups', 'orders');
    // A copy of a backup that proves nothing, of a run that left nothing to do.
    writeFileSync(join(folder, `backup-77-prove-${runId}.tgz.enc`), 'bytes');
    const before = readdirSync(folder).toSorted();
    for (const name of before) utimesSync(join(folder, name), new Date(0), new Date(0));
    const ended = await run('prune', '--older-than', '1d', '--downloads', '--yes', '--json');
    expect(ended.code, ended.stderr).toBe(0);
    expect(itemsIn<{ path: string }>(ended.stdout).map(({ path }) => basename(path))).toEqual([
      `backup-77-prove-${runId}.tgz.enc`,
    ]);
    expect(readdirSync(folder).toSorted()).toEqual(before.filter((name) => !name.startsWith('backup-77-')));
    expect((await here('status', 'orders', '--json')).stdout).toContain('"isProven":true');
  });

  test('--older-than is needed, and must be a duration', async (context) => {
    const { expect } = context;
    const { run } = await bench(context);
    expect((await run('prune')).code).toBe(2);
    expect((await run('prune', '--older-than', 'soon')).code).toBe(2);
  });
});
