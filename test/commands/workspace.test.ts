import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Secret } from '../../src/base/secret.ts';
import { askOnlyOnce, keepPassphrase } from '../../src/cli/kept-passphrase.ts';
import { openKeys as openCommandKeys, openWorkspace } from '../../src/compose/workspace.ts';
import { createSigner } from '../../src/store/log/signer.ts';
import type { AskedSecret, OnScreen } from '../../src/view/app/app-port.ts';
import { auditHome, codesOf, openSealed } from '../audit/sealed-journal.ts';
import { openKeys } from '../bench-kit/key-store.ts';
import { temporaryHome } from '../store/temporary-home.ts';

test('opening the store for writing first writes the checkpoint that a killed process left out', async () => {
  const folder = temporaryHome();
  const home = join(folder, 'home');
  mkdirSync(home, { mode: 0o700 });
  writeFileSync(join(folder, 'pass'), 'a passphrase of some length', { mode: 0o600 });
  const keyring = await openKeys(home, 'a passphrase of some length');
  await keyring.fingerprint(new Secret('any'));
  const signer = createSigner(await keyring.signingKey());
  const killed = await openSealed({ home, signer });
  await killed.append({ stream: 'run/a', type: 'run.closed', body: {} });
  await killed.close();
  const audit = async () => codesOf(await auditHome({ home }, { storedKey: signer.publicKey }));
  expect(await audit()).toContain('limit checkpoint.late run/a 1');

  const env = {
    LIFEBOAT_HOME: home,
    LIFEBOAT_KEYCHAIN: 'vault',
    LIFEBOAT_PASSPHRASE_FILE: join(folder, 'pass'),
  };
  const stream = { isTTY: false, write: () => true };
  const context = { env, version: '0', configPath: undefined, stdin: stream, stdout: stream, stderr: stream };
  const workspace = await openWorkspace(context as never);
  try {
    const hold = await workspace.journal.hold('run/b');
    await workspace.journal.append([{ stream: 'run/b', type: 'run.started', body: {} }], [hold]);
    expect(await audit()).toEqual(['note home.only']);
  } finally {
    await workspace.close();
  }
});

test('a passphrase that does not open the vault is reported in the field, and asked for again', async () => {
  const folder = temporaryHome();
  const home = join(folder, 'home');
  mkdirSync(home, { mode: 0o700 });
  await (await openKeys(home, 'a passphrase of some length')).fingerprint(new Secret('any'));
  const stream = { isTTY: true, write: () => true };
  const entered = ['not this one', 'a passphrase of some length'];
  const asked: AskedSecret[] = [];
  const said: string[] = [];
  const screen: OnScreen = {
    enter: async (wanted) => {
      asked.push(wanted);
      return new Secret(entered.shift() ?? '');
    },
    say: (text) => said.push(text),
    showPlan: async () => undefined,
  };
  const env = { LIFEBOAT_HOME: home, LIFEBOAT_KEYCHAIN: 'vault' };
  const passphrase = askOnlyOnce(keepPassphrase());
  const context = { env, stdin: stream, stdout: stream, stderr: stream, screen, passphrase };
  const keyring = await openCommandKeys(context as never, 'look');
  expect(await keyring.store.accounts()).toHaveLength(1);
  expect(asked.map(({ isUnasked, refused }) => [isUnasked, refused])).toEqual([
    [true, undefined],
    [false, expect.stringContaining('does not open the vault')],
  ]);
  expect(said).toEqual(['opening the vault file', '', 'opening the vault file', '']);
});
