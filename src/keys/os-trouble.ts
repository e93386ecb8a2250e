import { LifeboatError } from '../base/errors.ts';
import { show } from '../base/text.ts';
import { type KeyringFile, keyringFiles } from './keyring-files.ts';

interface Trouble {
  readonly code: string;
  readonly shortMessage: string;
  readonly hint: string;
  /** The texts of libsecret, D-Bus, macOS and keytar, which have no codes. */
  readonly says: RegExp;
}

const VAULT_HINT =
  'to keep keys in a file under a passphrase instead: write `keyStore: vault` into lifeboat.yaml';

const WINDOW_HINT = 'a window that asks for a password may be open on the screen of this machine';

const NO_COLLECTION = 'keys.no-collection';

const TROUBLES: readonly Trouble[] = [
  {
    code: 'keys.no-library',
    shortMessage: 'the keychain library cannot be loaded',
    hint: 'on Linux it needs libsecret: `apt-get install libsecret-1-0` or `dnf install libsecret`',
    says: /failed to load keytar native addon|cannot find (package|module) '?keytar|\.node/i,
  },
  {
    code: 'keys.no-service',
    shortMessage: 'no keychain service answers on the session bus',
    hint: 'install and start gnome-keyring, KWallet or KeePassXC in this session',
    says: /org\.freedesktop\.secrets.* was not provided|not activatable|activate remote peer|org\.freedesktop\.secrets exited/i,
  },
  {
    code: 'keys.no-bus',
    shortMessage: 'there is no session bus to reach a keychain on',
    hint: 'over SSH and in containers this is normal; a desktop session has one',
    says: /autolaunch d-bus|could not connect|spawn a message bus|connection (refused|is closed)|bus address|DBUS_SESSION_BUS_ADDRESS/i,
  },
  {
    code: NO_COLLECTION,
    shortMessage: 'the keychain service has no keychain yet',
    hint: 'log in to the desktop once, or unlock a new keychain with `gnome-keyring-daemon --unlock`',
    says: /does not exist at path|no such object path|keychain could not be found/i,
  },
  {
    code: 'keys.locked',
    shortMessage: 'the OS keychain is locked',
    hint: 'unlock it (log in to the desktop, or `gnome-keyring-daemon --unlock`), then try again',
    says: /\blocked\b|prompt|dismissed|interaction is not allowed|user canceled/i,
  },
  {
    code: 'keys.no-answer',
    shortMessage: 'the OS keychain has not answered',
    hint: WINDOW_HINT,
    // D-Bus itself gives up on a call after 25 s.
    says: /timeout was reached|did not receive a reply|timed out/i,
  },
];

/**
 * The problem, from the error of the keychain's library. Every hint offers the vault file; nothing switches
 * automatically. `folder` has the service's files: a keychain that exists but is not shown must not be
 * reported as missing.
 */
export function osError(thrown: unknown, folder?: string): LifeboatError {
  const text = thrown instanceof Error ? thrown.message : String(thrown);
  const trouble = TROUBLES.find(({ says }) => says.test(text));
  const [hidden] = trouble?.code === NO_COLLECTION ? unshown(folder) : [];
  if (hidden !== undefined) return notShown(hidden, text, thrown);
  const hint = trouble?.hint ?? '`lifeboat doctor` tries the keychain step by step';
  return new LifeboatError(
    trouble?.code ?? 'keys.failed',
    trouble?.shortMessage ?? 'the OS keychain failed',
    { hints: [hint, VAULT_HINT], evidence: { error: show(text) }, cause: thrown },
  );
}

/** Unreadable ones first. */
function unshown(folder: string | undefined): readonly KeyringFile[] {
  const files = keyringFiles(folder);
  return [...files.filter(isBroken), ...files.filter((file) => !isBroken(file))];
}

function isBroken({ brokenAt }: KeyringFile): boolean {
  return brokenAt !== undefined;
}

function notShown(file: KeyringFile, text: string, cause: unknown): LifeboatError {
  return new LifeboatError(
    NO_COLLECTION,
    `the keychain service shows no keychain, though there is ${show(file.path)}`,
    { hints: [...keepHints(file), VAULT_HINT], evidence: { error: show(text), file: file.path }, cause },
  );
}

/** For a keyring that the service does not show, so that its contents are not lost. */
export function keepHints({ path, brokenAt }: KeyringFile): readonly string[] {
  return [
    ...(brokenAt === undefined
      ? []
      : [`it cannot be read from line ${String(brokenAt)} on: a secret in it has a line end`]),
    `it may hold keys: copy it before anything else: cp -p ${show(path)} ${show(path)}.copy`,
    'make no new keychain in its place; docs/troubleshooting.md says how to get its items back',
  ];
}

export function noAnswer(patienceMs: number): LifeboatError {
  const seconds = String(Math.ceil(patienceMs / 1000));
  return new LifeboatError('keys.no-answer', `the OS keychain has not answered for ${seconds} s`, {
    hints: [WINDOW_HINT, VAULT_HINT],
  });
}

export function notKept(): LifeboatError {
  return new LifeboatError('keys.not-kept', 'the OS keychain does not give back what was written to it', {
    hints: ['do not use the key that was being stored', VAULT_HINT],
  });
}

/** CRED_MAX_CREDENTIAL_BLOB_SIZE is the limit for each item. */
export function tooLargeForWindows(bytes: number, limit: number): LifeboatError {
  return new LifeboatError(
    'keys.too-large',
    `the secret takes ${String(bytes)} bytes in the Windows keychain, which has room for ${String(limit)}`,
    { hints: ['nothing was written', VAULT_HINT], evidence: { bytes, limit } },
  );
}
