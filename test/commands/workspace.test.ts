import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Secret } from '../../src/base/secret.ts';
import { openWorkspace } from '../../src/compose/workspace.ts';
import { createSigner } from '../../src/store/log/signer.ts';
import { auditHome, codesOf, openSealed } from '../audit/sealed-journal.ts';
import { openKeys } from '../bench-kit/key-store.ts';
import { temporaryHome } from '../store/temporary-home.ts';

test('a command that opens the store for writing first writes the checkpoint that a process before it died too early for', async () => {
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
