import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { asksPassphrase, configIn } from '../../src/cli/early-frame.ts';
import { keyStoreNamed, withKeyStore } from '../../src/config/key-store-named.ts';
import { loadConfig } from '../../src/config/load.ts';
import { temporaryHome } from '../store/temporary-home.ts';

const INSTANCES = 'instances: { a: { url: https://h/service-instances/1, token: { env: T } } }\n';

function written(text: string): string {
  const folder = join(temporaryHome(), 'config');
  mkdirSync(folder, { mode: 0o700 });
  const path = join(folder, 'lifeboat.yaml');
  writeFileSync(path, `${INSTANCES}${text}`, { mode: 0o600 });
  return path;
}

test.for([
  ['keyStore: vault\n', 'vault'],
  ['keyStore:   os   # the keychain\n', 'os'],
  ['keyStore: "vault"\r\n', 'vault'],
  ["keyStore: 'os'", 'os'],
  ['# keyStore: vault\n', undefined],
  ['report: { name: "keyStore: vault" }\n', undefined],
  ['', undefined],
])(
  'the key store of a config is found before it is parsed, as the parser finds it: %j',
  async ([text = '', store]) => {
    const path = written(text);
    expect(keyStoreNamed({}, path)).toBe(store);
    expect((await loadConfig({}, path)).keyStore).toBe(store);
  },
);

test.for(['"keyStore": vault\n', 'keyStore:\n  vault\n', '? keyStore\n: vault\n'])(
  'a config whose key store would not be found is refused: %j',
  async (text) => {
    const path = written(text);
    const refusal = { code: 'config.key-store', exitCode: 2 };
    await expect(loadConfig({}, path)).rejects.toMatchObject(refusal);
    expect((await loadConfig({ LIFEBOAT_KEYCHAIN: 'os' }, path)).keyStore).toBe('vault');
  },
);

test.for(['vault', 'os', undefined])(
  'the key store of a config in JSON on one line is found: %s',
  async (keyStore) => {
    const path = written('');
    const instances = {
      a: { url: 'https://h/service-instances/1', token: { env: 'T' } },
    };
    writeFileSync(path, JSON.stringify({ instances, keyStore }));
    expect(keyStoreNamed({}, path)).toBe(keyStore);
    expect((await loadConfig({}, path)).keyStore).toBe(keyStore);
  },
);

test('an unknown key store is refused', async () => {
  await expect(loadConfig({}, written('keyStore: hashicorp\n'))).rejects.toMatchObject({
    problems: [{ message: 'one of these belongs here: os, vault' }],
  });
});

test('the variable wins over the config, and without either the keychain is used', () => {
  const path = written('keyStore: vault\n');
  expect(withKeyStore({}, path)).toEqual({ LIFEBOAT_KEYCHAIN: 'vault' });
  expect(withKeyStore({ LIFEBOAT_CONFIG: path })).toMatchObject({ LIFEBOAT_KEYCHAIN: 'vault' });
  expect(withKeyStore({ LIFEBOAT_KEYCHAIN: 'os' }, path)).toEqual({ LIFEBOAT_KEYCHAIN: 'os' });
  expect(withKeyStore({ LIFEBOAT_KEYCHAIN: '' }, path)).toEqual({ LIFEBOAT_KEYCHAIN: 'vault' });
  const env = { LIFEBOAT_CONFIG: `${path}.none` };
  expect(withKeyStore(env)).toBe(env);
});

test('a passphrase is asked for where the config names the vault file', () => {
  const path = written('keyStore: vault\n');
  for (const argv of [
    ['--config', path, 'keys', 'list'],
    ['keys', 'list', `--config=${path}`],
  ])
    expect(asksPassphrase(withKeyStore({}, configIn(argv)))).toBe(true);
  const env = { LIFEBOAT_CONFIG: path, LIFEBOAT_PASSPHRASE_FILE: '/pass' };
  expect(asksPassphrase(withKeyStore(env, configIn(['keys', 'list'])))).toBe(false);
});
