/**
 * A separate process with a key store, for tests. Requests and answers are JSON lines. Arguments: `os
 * <home>`, or `vault <path> <passphrase> <workFactor>`.
 */
import { createInterface } from 'node:readline';
import { failureOf } from '../../src/base/errors.ts';
import { Secret } from '../../src/base/secret.ts';
import type { KeyStore } from '../../src/keys/key-store.ts';
import { openKeyring } from '../../src/keys/keyring.ts';
import { keyringFolder } from '../../src/keys/keyring-files.ts';
import { answerFromKeychain, openOsStore } from '../../src/keys/os-store.ts';
import { openVault } from '../../src/keys/vault.ts';
import type { Request } from './remote-store.ts';

const [kind, place = '', passphrase = '', workFactor = ''] = process.argv.slice(2);
let store: KeyStore | undefined;

// As the program itself does for a store that reads back what it wrote.
if (kind === 'keychain-item') {
  await answerFromKeychain(process.stdin, process.stdout);
  process.exit();
}

for await (const line of createInterface({ input: process.stdin })) {
  const request = JSON.parse(line) as Request;
  try {
    store ??= await open();
    answer({ result: await perform(store, request) });
  } catch (thrown) {
    answer({ failure: failureOf(thrown) });
  }
}

function open(): Promise<KeyStore> {
  if (kind === 'os') {
    const service = process.env['LIFEBOAT_KEYCHAIN_SERVICE'] ?? 'lifeboat';
    return openOsStore({ home: place, service, keyrings: keyringFolder(process.env) });
  }
  return openVault({
    path: place,
    passphrase: async () => new Secret(passphrase),
    workFactor: Number(workFactor),
  });
}

async function perform(target: KeyStore, { verb, account, value }: Request): Promise<unknown> {
  switch (verb) {
    case 'probe':
      return target.probe();
    case 'put':
      return target.put(account, new Secret(value));
    case 'exchange':
      return target.exchange(account, new Secret(value));
    case 'putAll': {
      const items = JSON.parse(value) as [string, string][];
      return target.putAll(new Map(items.map(([name, text]) => [name, new Secret(text)])));
    }
    case 'changePassphrase':
      return target.changePassphrase?.(async () => new Secret(value));
    case 'get':
      return (await target.get(account))?.reveal();
    case 'heldInClear':
      return target.heldInClear?.();
    case 'accounts':
      return target.accounts();
    case 'remove':
      return target.remove(account);
    case 'fingerprint':
      return openKeyring(target).fingerprint(new Secret(value));
    case 'signingKey':
      return (await openKeyring(target).signingKey()).reveal();
  }
}

function answer(reply: object): void {
  process.stdout.write(`${JSON.stringify(reply)}\n`);
}
