import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'vitest';
import { CANARIES } from '../bench-kit/canaries.ts';
import { openKeys } from '../bench-kit/key-store.ts';
import { itemsIn } from '../bench-kit/results.ts';
import { type TestBench, useQuickBenches } from '../bench-kit/test-bench.ts';

interface FitRow {
  readonly instance: string;
  readonly backup: number;
  readonly fit: string;
  readonly fingerprint?: string;
  readonly heldFor?: string;
  readonly provenAt?: string;
}

async function fitsIn(home: TestBench, ...args: string[]) {
  const { code, stdout, stderr } = await home.run('keys', 'fit', 'orders', '--json', ...args);
  return { code, stderr, rows: itemsIn<FitRow>(stdout) };
}

async function oldFingerprint(home: TestBench): Promise<string> {
  const [fingerprint = ''] = (await home.vault()).keys();
  return fingerprint;
}

describe.concurrent('`lifeboat keys fit`', () => {
  const bench = useQuickBenches();

  test('names the key of every backup by its first block, and downloads no more than that', async (context) => {
    const { expect } = context;
    const home = await bench(context);
    const key = await oldFingerprint(home);
    const before = home.server.calls.length;
    const { code, rows, stderr } = await fitsIn(home);
    expect(code, stderr).toBe(0);
    expect(rows.length).toBeGreaterThan(0);
    expect(rows.every((row) => row.fit === 'fits' && row.fingerprint === key)).toBe(true);
    expect(rows.every(({ provenAt }) => provenAt === undefined)).toBe(true);
    const calls = home.server.calls.slice(before);
    expect(calls.every(({ method }) => method === 'GET')).toBe(true);
  });

  test('does not call a fit a proof: `keys show` still does not say that anything was verified', async (context) => {
    const { expect } = context;
    const home = await bench(context);
    await fitsIn(home);
    const types = (await home.entries('instance/orders')).map(({ type }) => type);
    expect(types).not.toContain('key.proven');
    const shown = await home.run('keys', 'show', 'orders');
    expect(shown.stdout).toContain('by fit:');
    expect(shown.stdout).not.toContain('verified:');
  });

  test('a fit is shown where a backup is chosen, in other words than a proof', async (context) => {
    const { expect } = context;
    const home = await bench(context);
    const key = await oldFingerprint(home);
    const choice = async () => (await home.run('run', 'restore-backup', 'orders')).stderr;
    expect(await choice()).not.toContain(key);
    await home.good('resume', '--abandon', 'a test');
    await fitsIn(home);
    expect(await choice()).toContain(`key ${key} fits its first block, which is no proof`);
    await home.good('resume', '--abandon', 'a test');
    await home.rotate();
    expect(await choice()).toMatch(/verified to its end with key [0-9a-f]{12}/u);
  });

  test('finds a key that is held for another instance, and says for which', async (context) => {
    const { expect } = context;
    const home = await bench(context);
    const keyring = await openKeys(home.home);
    const key = await oldFingerprint(home);
    const held = await keyring.load('orders', key);
    if (held === undefined) throw new Error('the old key is held');
    const other = home.server.instances.find(({ name }) => name !== 'orders')?.name ?? 'orders-dr';
    await keyring.add(other, held);
    await keyring.remove('orders', key);
    const { rows } = await fitsIn(home);
    expect(rows.map(({ fit, heldFor }) => [fit, heldFor])).toEqual(rows.map(() => ['fits', other]));
  });

  test('records a key that someone else has set as unknown, and corrects this when the key is added', async (context) => {
    const { expect } = context;
    const home = await bench(context);
    const key = await oldFingerprint(home);
    await (await openKeys(home.home)).remove('orders', key);
    const { code, rows } = await fitsIn(home);
    expect(code).toBe(1);
    expect(rows.every(({ fit }) => fit === 'none')).toBe(true);
    expect((await home.run('keys', 'show', 'orders')).stdout).toContain(
      'a key set by somebody else  UNKNOWN',
    );
    await fitsIn(home);
    const found = (await home.entries('instance/orders')).filter(({ type }) => type === 'custody.unknown');
    expect(found).toHaveLength(rows.length);
    const file = join(home.folder, 'the-key');
    writeFileSync(file, CANARIES.oldKey, { mode: 0o600 });
    await home.good('keys', 'add', 'orders', '--file', file);
    expect((await fitsIn(home)).code).toBe(0);
    expect((await home.run('keys', 'show', 'orders')).stdout).not.toContain('set by somebody else');
  });
});

describe.concurrent('the destruction of a key', () => {
  const bench = useQuickBenches();

  /** A home whose key was rotated, so that the old one is not in force. */
  async function rotated(context: TestContext) {
    const home = await bench(context);
    const old = await oldFingerprint(home);
    await home.rotate();
    return { home, old };
  }

  test('is refused while a listed backup opens with it, and names that backup', async (context) => {
    const { home, old } = await rotated(context);
    const { expect } = context;
    const asked = await home.run('keys', 'may-destroy', old, '-i', 'orders', '--json');
    expect(asked.code, asked.stderr).toBe(1);
    const { may, reasons, custody } = JSON.parse(asked.stdout) as {
      may: boolean;
      reasons: { code: string }[];
      custody: string;
    };
    expect([may, custody]).toEqual([false, 'deactivated']);
    expect(reasons.map(({ code }) => code)).toContain('backup');
    const refused = await home.run('keys', 'destroy', old, '-i', 'orders', '--confirm', old);
    expect(refused.code, refused.stderr).toBe(1);
    expect((await home.vault()).has(old)).toBe(true);
  });

  test('is refused for a key in force, whatever else is known', async (context) => {
    const { expect } = context;
    const { home, old } = await rotated(context);
    const fresh = [...(await home.vault()).keys()].find((one) => one !== old) ?? '';
    const asked = await home.run('keys', 'may-destroy', fresh, '-i', 'orders');
    expect(asked.code).toBe(1);
    expect(asked.stdout).toContain('it is in force on orders');
    const retired = await home.run(
      'keys',
      'retire',
      fresh,
      '-i',
      'orders',
      '--reason',
      'left by a colleague',
    );
    expect(retired.code, retired.stdout).toBe(1);
  });

  test('is refused while a downloaded file opens with it', async (context) => {
    const { expect } = context;
    const { home, old } = await rotated(context);
    const backup = itemsIn<FitRow>((await home.run('keys', 'fit', 'orders', '--json')).stdout).find(
      ({ fingerprint }) => fingerprint === old,
    );
    mkdirSync(join(home.home, 'backups', 'orders'), { recursive: true });
    const out = join(home.home, 'backups', 'orders', 'kept.tgz.enc');
    await home.good('backups', 'download', `${backup?.backup}`, '-i', 'orders', '--out', out);
    const asked = await home.run('keys', 'may-destroy', old, '-i', 'orders', '--json');
    expect(asked.stdout).toContain('"local-file"');
  });

  test('that is forced goes on record with its reason, can be cancelled, and is carried out by a later command', async (context) => {
    const { expect } = context;
    const { home, old } = await rotated(context);
    const force = ['--force', '--because', 'the data is gone by law'];
    const destroy = ['keys', 'destroy', old, '-i', 'orders', '--in', '1h', '--confirm', old];
    const bare = await home.run(...destroy, '--force');
    expect(bare.code).toBe(2);
    await home.good(...destroy, ...force);
    const again = await home.run(...destroy, ...force);
    expect(again.stderr).toContain('is scheduled already');
    await home.good('keys', 'destroy', old, '-i', 'orders', '--cancel', '--because', 'found another use');
    await home.good('keys', 'fit', 'orders');
    expect((await home.vault()).has(old)).toBe(true);
    const types = (await home.entries('instance/orders')).map(({ type }) => type);
    expect(types.slice(-2)).toEqual(['custody.scheduled', 'custody.cancelled']);
  });

  test('retire is reversible, and deletes nothing', async (context) => {
    const { expect } = context;
    const { home, old } = await rotated(context);
    await home.good('keys', 'retire', old, '-i', 'orders', '--reason', 'replaced');
    expect((await home.run('keys', 'show', 'orders', '--key', old)).stdout).toContain('retired');
    await home.good('keys', 'retire', old, '-i', 'orders', '--undo');
    expect((await home.run('keys', 'show', 'orders', '--key', old)).stdout).not.toContain('retired');
    expect((await home.vault()).has(old)).toBe(true);
  });
});
