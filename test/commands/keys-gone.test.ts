import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { expect, onTestFinished, test } from 'vitest';
import type { CommandContext } from '../../src/cli/context.ts';
import { assertKeysPresent } from '../../src/compose/keys-gone.ts';
import { PROJECTIONS } from '../../src/store/projected.ts';
import { openSqliteStore } from '../../src/store/sqlite/open.ts';
import { freshSigner } from '../store/fresh-signer.ts';

/** A home whose ledger names a key, as one on whose disk the keychain of the system does not lie. */
async function homeWith({ keys, heads }: { readonly keys: boolean; readonly heads: boolean }) {
  const home = mkdtempSync(join(tmpdir(), 'lifeboat-gone-'));
  onTestFinished(() => rmSync(home, { recursive: true }));
  const journal = await openSqliteStore({
    home,
    by: 'tester',
    signer: freshSigner(),
    projections: PROJECTIONS,
  });
  const body = { fingerprint: 'aaaaaaaaaaaa' };
  const begun = { call: 'c', verb: 'createBackup', input: {} };
  const orders = await journal.hold('instance/orders');
  await journal.append([{ stream: 'instance/orders', type: 'call.begun', body: begun }], [orders]);
  const shop = await journal.hold('instance/shop');
  if (keys) await journal.append([{ stream: 'instance/shop', type: 'key.added', body }], [shop]);
  await journal.close();
  if (!heads) return home;
  mkdirSync(join(home, 'checkpoints'));
  writeFileSync(join(home, 'checkpoints', 'lifeboat-0123456789abcdef.pub'), 'a public key');
  return home;
}

function refusal(home: string, installationSecret: boolean, signingKey: boolean) {
  const context = { stdin: new PassThrough(), stderr: new PassThrough(), env: { LIFEBOAT_HOME: home } };
  const store = { kind: 'os' as const, store: 'OS keychain', isThere: true };
  const missing = { ...store, installationSecret, signingKey };
  return assertKeysPresent(context as unknown as CommandContext, home, missing, true);
}

test('a keychain without an installation secret is refused where a ledger names keys, and says what is missing', async () => {
  const home = await homeWith({ keys: true, heads: false });
  await expect(refusal(home, true, true)).rejects.toMatchObject({
    code: 'keys.gone',
    shortMessage: 'the OS keychain does not hold the keys that the journal names',
    hints: expect.arrayContaining([expect.stringContaining('may be in a vault file (`keyStore: vault`)')]),
  });
  expect(await refusal(home, false, true)).toBe(false);
});

test('a keychain without a signing key is refused where heads were signed', async () => {
  const home = await homeWith({ keys: false, heads: true });
  await expect(refusal(home, true, true)).rejects.toMatchObject({ code: 'keys.gone' });
  expect(await refusal(home, true, false)).toBe(false);
});

test('a first key store is made wherever there was none before: also beside a journal that names no keys', async () => {
  expect(await refusal(await homeWith({ keys: false, heads: false }), true, true)).toBe(false);
  const empty = mkdtempSync(join(tmpdir(), 'lifeboat-gone-'));
  onTestFinished(() => rmSync(empty, { recursive: true }));
  expect(await refusal(empty, true, true)).toBe(false);
});
