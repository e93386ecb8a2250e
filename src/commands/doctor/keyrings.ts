import { show } from '../../base/text.ts';
import type { KeyStore } from '../../keys/key-store.ts';
import { keyringFiles, keyringFolder } from '../../keys/keyring-files.ts';
import { keepHints } from '../../keys/os-trouble.ts';
import { attempt, type Check } from './check.ts';

/**
 * Problems with the files of an OS keychain that is usable: it keeps keys in plain text, or a keyring beside
 * the one in use can no longer be read. Empty for another key store.
 */
export async function keyringChecks(env: NodeJS.ProcessEnv, store: KeyStore): Promise<Check[]> {
  if (store.kind !== 'os') return [];
  const clear = await attempt(PLAIN, async () => store.heldInClear?.());
  if ('check' in clear) return [clear.check];
  const broken = keyringFiles(keyringFolder(env)).filter(({ brokenAt }) => brokenAt !== undefined);
  return [
    ...(clear.value === undefined ? [] : [inClear(clear.value)]),
    ...broken.map((file): Check => {
      const found = `${show(file.path)}: the keychain service cannot read this keyring`;
      return { what: 'key store: keyring', state: 'bad', found, hints: keepHints(file) };
    }),
  ];
}

const PLAIN = 'key store: plain text';

function inClear(path: string): Check {
  return {
    what: PLAIN,
    state: 'warn',
    found: `${show(path)} keeps keys in plain text: this keyring has no password`,
    hints: [
      'give the keyring a password: in Passwords and Keys (seahorse), Change Password',
      'or keep keys in the vault file: write `keyStore: vault` into lifeboat.yaml',
    ],
  };
}
