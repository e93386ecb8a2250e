import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'vitest';
import { changes, type TestBench, useQuickBenches } from '../bench-kit/test-bench.ts';

const SURE = ['--yes', '--confirm'] as const;

/** The config of a colleague, who has another name for the same instance. */
function colleague(home: TestBench): string {
  const path = join(home.folder, 'colleague.yaml');
  const text = readFileSync(home.env['LIFEBOAT_CONFIG'] ?? '', 'utf8');
  writeFileSync(path, text.replace('  orders:', '  orders-prod:'));
  return path;
}

describe.concurrent('an instance that two configs name differently has one ledger in their store', () => {
  const bench = useQuickBenches();

  test('any change under the second name is refused, and the first name is given', async (context) => {
    const { expect } = context;
    const home = await bench(context, {});
    const other = ['--config', colleague(home)];
    const began = await home.run('backups', 'create', '--instance', 'orders', '--yes', '--wait');
    expect(began.code, began.stderr).toBe(0);
    const sent = changes(home.server);
    const key = join(home.folder, 'key');
    writeFileSync(key, 'a key of the colleague\n', { mode: 0o600 });
    for (const words of [
      ['backups', 'create', '--instance', 'orders-prod', '--yes'],
      ['run', 'back-up-and-verify', '--instance', 'orders-prod', '--yes'],
      ['run', 'restore-backup', '--instance', 'orders-prod', ...SURE, 'orders-prod', '--backup', '900041'],
      ['keys', 'add', '--instance', 'orders-prod', '--file', key],
    ]) {
      const refused = await home.run(...other, ...words);
      expect(refused.code, `${words.join(' ')}\n${refused.stderr}`).toBe(2);
      expect(refused.stderr).toContain('orders-prod is orders: the store knows the instance at this address');
      expect(refused.stderr).toContain('name it so in lifeboat.yaml, with the same url: orders');
      expect(refused.stderr).toContain('instance.other-name');
    }
    expect(changes(home.server)).toEqual(sent);
    expect(await home.vault('orders-prod')).toEqual(new Map());
    expect((await home.run('runs', '--json')).stdout).not.toContain('orders-prod');
    const again = await home.run('backups', 'create', '--instance', 'orders', '--yes', '--wait');
    expect(again.code, again.stderr).toBe(0);
  });

  test('a run that is open under the first name is not followed by another under the second', async (context) => {
    const { expect } = context;
    const home = await bench(context, {});
    const open = await home.run('run', 'restore-backup', '--instance', 'orders', '--backup', '900041');
    expect(open.code, open.stderr).toBe(3);
    const restart = ['instance', 'restart', '--instance', 'orders-prod', '--yes', '--anyway', 'I may'];
    const refused = await home.run('--config', colleague(home), ...restart);
    expect(refused.code, refused.stderr).toBe(3);
    expect(refused.stderr).toMatch(/^lifeboat: run \w+ on orders-prod is still open/mu);
    expect(refused.stderr).toContain('hint: orders-prod is orders: the store knows the instance');
    expect(changes(home.server)).toMatchObject({ posts: 0, patches: 0 });
  });

  test('reading works under the second name, and a note names the first', async (context) => {
    const { expect } = context;
    const home = await bench(context, {});
    const other = ['--config', colleague(home)];
    const quiet = await home.run(...other, 'runs', '--in-doubt');
    expect([quiet.code, quiet.stderr]).toEqual([0, expect.not.stringContaining('the store knows')]);
    const began = await home.run('backups', 'create', '--instance', 'orders', '--yes', '--wait');
    expect(began.code, began.stderr).toBe(0);
    for (const words of [
      ['status'],
      ['followups', 'list'],
      ['runs', '--in-doubt'],
      ['backups', 'list', '--instance', 'orders-prod'],
    ]) {
      const read = await home.run(...other, ...words);
      expect([0, 1], read.stderr).toContain(read.code);
      if (words[0] === 'backups') continue;
      expect(read.stderr, words.join(' ')).toMatch(
        /^warning: orders-prod is orders: the store knows the instance at this address by that name$/mu,
      );
    }
    expect((await home.run('runs', '--in-doubt')).stderr).not.toContain('the store knows');
  });
});
