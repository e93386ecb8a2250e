import { join } from 'node:path';
import { EXIT, LifeboatError } from '../base/errors.ts';
import { childEnvironment, runShell } from '../base/run-shell.ts';
import { Secret } from '../base/secret.ts';
import { show } from '../base/text.ts';
import type { KeyStore } from './key-store.ts';
import { keyringFolder } from './keyring-files.ts';
import { openOsStore } from './os-store.ts';
import { readPrivateFile } from './private-file.ts';
import { openVault } from './vault.ts';

export interface StoreChoice {
  /**
   * LIFEBOAT_KEYCHAIN (`os`, `vault`), ..._PASSPHRASE_FILE or _COMMAND, ..._KEYCHAIN_SERVICE; empty: unset.
   */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** `$LIFEBOAT_HOME`. The vault is `vault.age` in it. */
  readonly home: string;
  /** Asks the operator if no passphrase file is named. Omitted without a person to ask. */
  readonly askPassphrase?: (purpose: 'open' | 'create') => Promise<Secret>;
  /** Opens it only for reading: writes no probe item. */
  readonly toRead?: boolean;
}

/**
 * The key store that the environment selects (`withKeyStore` adds the config's choice), probed or read once,
 * so usable now. Never falls back to another one: without a usable keychain it rejects, saying what is
 * missing, and the hints offer the vault file. `keys.unknown-store`: another value of LIFEBOAT_KEYCHAIN;
 * `keys.no-passphrase`: no way to get the vault file's passphrase.
 */
export async function chooseStore(choice: StoreChoice): Promise<KeyStore> {
  const store = await openStore(choice);
  await (choice.toRead === true ? store.accounts() : store.probe());
  return store;
}

function wantedIn(env: StoreChoice['env']): string {
  return env['LIFEBOAT_KEYCHAIN'] || 'os';
}

function serviceIn(env: StoreChoice['env']): { readonly service?: string } {
  const service = env['LIFEBOAT_KEYCHAIN_SERVICE'];
  return service ? { service } : {};
}

async function openStore({ env, home, askPassphrase }: StoreChoice): Promise<KeyStore> {
  const wanted = wantedIn(env);
  if (wanted === 'os') return openOsStore({ home, keyrings: keyringFolder(env), ...serviceIn(env) });
  if (wanted === 'vault') {
    const passphrase = passphraseFrom(env) ?? askPassphrase ?? nobodyToAsk;
    return openVault({ path: join(home, 'vault.age'), passphrase });
  }
  throw new LifeboatError('keys.unknown-store', `LIFEBOAT_KEYCHAIN is ${show(wanted, 40)}: not a key store`, {
    hints: ['use `os` for the keychain of this machine, or `vault` for a file under a passphrase'],
    exitCode: EXIT.usage,
  });
}

/** Undefined: a person is asked. */
function passphraseFrom(env: StoreChoice['env']): (() => Promise<Secret>) | undefined {
  const { LIFEBOAT_PASSPHRASE_FILE: file, LIFEBOAT_PASSPHRASE_COMMAND: command } = env;
  if (file && command)
    throw new LifeboatError(
      'keys.two-passphrases',
      'LIFEBOAT_PASSPHRASE_FILE and LIFEBOAT_PASSPHRASE_COMMAND are both set',
      { hints: ['nothing was opened', 'unset one of them'], exitCode: EXIT.usage },
    );
  if (command) return () => passphraseOf(command, env);
  return file ? () => readPassphraseFile(file) : undefined;
}

/** A person may have to touch a token, or to unlock a password manager. */
const COMMAND_MS = 120_000;

/**
 * The first line that a shell command prints, such as `pass show lifeboat`. Rejects with `keys.no-passphrase`
 * if the command fails, takes over two minutes or prints over 64 KiB, and never quotes what it printed. The
 * command gets no variable of Lifeboat.
 */
async function passphraseOf(command: string, env: StoreChoice['env']): Promise<Secret> {
  const { signal } = new AbortController();
  const how = { env: childEnvironment([], {}, { ...env }), timeoutMs: COMMAND_MS, signal };
  const { exit, stdout } = await runShell(command, { ...how, endsWhenFull: true, leavesOthers: true });
  const passphrase = exit === 0 ? firstLine(Buffer.from(stdout), 'what the command printed') : '';
  if (passphrase !== '') return new Secret(passphrase);
  const ended = exit === 'timeout' ? `took longer than ${COMMAND_MS / 1_000} s` : `ended with ${exit}`;
  const what = exit === 0 ? 'printed no passphrase' : exit === 'too much' ? 'printed too much' : ended;
  throw new LifeboatError('keys.no-passphrase', `the command in LIFEBOAT_PASSPHRASE_COMMAND ${what}`, {
    hints: ['nothing was opened: run the command by hand to see why'],
    exitCode: EXIT.credentials,
  });
}

async function nobodyToAsk(): Promise<never> {
  throw new LifeboatError(
    'keys.no-passphrase',
    'the vault file needs a passphrase, and there is no terminal to ask for it in',
    {
      hints: [
        'set LIFEBOAT_PASSPHRASE_FILE to a file that only you can read (chmod 600)',
        'or LIFEBOAT_PASSPHRASE_COMMAND to a command that prints it',
        'or run it in a terminal',
      ],
      exitCode: EXIT.credentials,
    },
  );
}

const PASSPHRASE_FILE = { name: 'passphrase file', mayBeLinkOrPipe: true };

/**
 * The first line of LIFEBOAT_PASSPHRASE_FILE, without its line end. A link or a pipe (`/dev/fd/3`) is
 * allowed. Rejects with `keys.permissions` if others can open the file, `keys.no-passphrase` if it is
 * missing, `keys.empty-passphrase`, and `keys.unstorable` if it is not UTF-8 (which the age tool refuses as
 * well).
 */
export async function readPassphraseFile(path: string): Promise<Secret> {
  const bytes = await readPrivateFile(path, PASSPHRASE_FILE);
  if (bytes === undefined) {
    throw new LifeboatError('keys.no-passphrase', `there is no passphrase file ${show(path)}`, {
      hints: ['set LIFEBOAT_PASSPHRASE_FILE to a file that only you can read, or unset it to be asked'],
    });
  }
  const passphrase = firstLine(bytes, path);
  if (passphrase !== '') return new Secret(passphrase);
  throw new LifeboatError('keys.empty-passphrase', `the first line of ${show(path)} is empty`, {
    hints: ['put the passphrase of the vault file on the first line'],
  });
}

function firstLine(bytes: Buffer, path: string): string {
  const end = bytes.indexOf('\n');
  const line = end < 0 ? bytes : bytes.subarray(0, end);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(line).replace(/\r$/, '');
  } catch {
    throw new LifeboatError('keys.unstorable', `the first line of ${show(path)} is not UTF-8 text`, {
      hints: ['save the file as UTF-8'],
    });
  }
}
