import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { LifeboatError } from '../../../src/base/errors.ts';
import { Secret } from '../../../src/base/secret.ts';
import { askOnlyOnce, keepPassphrase } from '../../../src/cli/kept-passphrase.ts';
import { keptKeyring, keyringOfEachLook } from '../../../src/commands/app/load-keys.ts';
import { openKeys } from '../../bench-kit/key-store.ts';
import { temporaryHome } from '../../store/temporary-home.ts';

const WORDS = 'a passphrase of some length';

test('a passphrase that was entered for a run opens the key store for the next look at all instances', async () => {
  const home = join(temporaryHome(), 'home');
  mkdirSync(home, { mode: 0o700 });
  await (await openKeys(home, WORDS)).add('orders', new Secret('the key of orders'));
  const stream = { isTTY: true, write: () => true };
  let asked = 0;
  const screen = {
    enter: () => {
      asked += 1;
      return Promise.reject(new LifeboatError('input.left', 'nothing was entered'));
    },
    say: () => undefined,
  };
  const env = { LIFEBOAT_HOME: home, LIFEBOAT_KEYCHAIN: 'vault' };
  const kept = keepPassphrase();
  const given = { env, stdin: stream, stdout: stream, stderr: stream, screen };
  const nextLook = keyringOfEachLook({ ...given, passphrase: askOnlyOnce(kept) } as never);
  const first = nextLook();
  await expect(first()).rejects.toThrow();
  await expect(first()).rejects.toThrow();
  await expect(nextLook()()).rejects.toThrow();
  await kept.get(async () => new Secret(WORDS));
  const keyring = await nextLook()();
  expect(await keyring.list('orders')).toHaveLength(1);
  expect(asked).toBe(1);
});

test('a look in a home without a vault, as for a dry run, asks for no new passphrase', async () => {
  const home = join(temporaryHome(), 'home');
  const stream = { isTTY: true, write: () => true };
  const screen = { enter: () => Promise.reject(new Error('it was asked for')), say: () => undefined };
  const env = { LIFEBOAT_HOME: home, LIFEBOAT_KEYCHAIN: 'vault' };
  const keyring = await keptKeyring({ env, stdin: stream, stdout: stream, stderr: stream, screen } as never);
  await keyring.store.probe();
  expect(await keyring.list('orders')).toEqual([]);
  expect(existsSync(home)).toBe(false);
});
