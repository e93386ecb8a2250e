import { LifeboatError } from '../base/errors.ts';
import { show } from '../base/text.ts';

interface Trouble {
  readonly code: string;
  readonly shortMessage: string;
  readonly hint: string;
  /** What libsecret, D-Bus, macOS and keytar say in this case: their errors carry a text and no code. */
  readonly says: RegExp;
}

const VAULT_HINT = 'to keep keys in a file under a passphrase instead: set LIFEBOAT_KEYCHAIN=vault';

const WINDOW_HINT = 'a window that asks for a password may be open on the screen of this machine';

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
    code: 'keys.no-collection',
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
    // D-Bus gives up on a call by itself after 25 s.
    says: /timeout was reached|did not receive a reply|timed out/i,
  },
];

/**
 * Which thing is wrong with the OS keychain, from what its library threw. Every hint offers the vault file;
 * nothing switches by itself.
 */
export function osError(thrown: unknown): LifeboatError {
  const text = thrown instanceof Error ? thrown.message : String(thrown);
  const trouble = TROUBLES.find(({ says }) => says.test(text));
  const hint = trouble?.hint ?? '`lifeboat doctor` tries the keychain step by step';
  return new LifeboatError(
    trouble?.code ?? 'keys.failed',
    trouble?.shortMessage ?? 'the OS keychain failed',
    {
      hints: [hint, VAULT_HINT],
      evidence: { error: show(text) },
      cause: thrown,
    },
  );
}

/** The keychain took longer than `patienceMs`. */
export function noAnswer(patienceMs: number): LifeboatError {
  const seconds = String(Math.ceil(patienceMs / 1000));
  return new LifeboatError('keys.no-answer', `the OS keychain has not answered for ${seconds} s`, {
    hints: [WINDOW_HINT, VAULT_HINT],
  });
}

/** Written and read back, and it was not the same. */
export function notKept(): LifeboatError {
  return new LifeboatError('keys.not-kept', 'the OS keychain does not give back what was written to it', {
    hints: ['do not use the key that was being stored', VAULT_HINT],
  });
}

/** Windows keeps at most `limit` bytes for each item (CRED_MAX_CREDENTIAL_BLOB_SIZE). */
export function tooLargeForWindows(bytes: number, limit: number): LifeboatError {
  return new LifeboatError(
    'keys.too-large',
    `the secret has ${String(bytes)} bytes and the Windows keychain takes ${String(limit)}`,
    { hints: ['nothing was written', VAULT_HINT], evidence: { bytes, limit } },
  );
}
