import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type * as KeytarModule from 'keytar';
import { LifeboatError } from '../base/errors.ts';
import { endNotBefore } from '../base/own-program.ts';
import { Secret } from '../base/secret.ts';
import { show } from '../base/text.ts';
import { checkItem, isStored, type KeyStore, listed, PROBE_PREFIX } from './key-store.ts';
import { withLock } from './lock.ts';

interface OsStoreOptions {
  /** `$LIFEBOAT_HOME`: the lock between processes that write keys lies there (`keychain.lock`). */
  readonly home: string;
  /** The service name of all items. Default `lifeboat`. */
  readonly service?: string;
  /** How long one call may take. Default 60 s: a desktop may be asking its user for a password. */
  readonly patienceMs?: number;
  /** Default: the platform of this process. */
  readonly platform?: NodeJS.Platform;
}

type Keytar = Omit<typeof KeytarModule, 'default'>;

const DESCRIPTIONS: Partial<Record<NodeJS.Platform, string>> = {
  darwin: 'OS keychain (macOS Keychain)',
  win32: 'OS keychain (Windows Credential Manager)',
};

const SERVICE = 'lifeboat';
const WINDOWS_LIMIT = 2560;
const PATIENCE_MS = 60_000;

/**
 * The keychain of the operating system, through keytar, which is loaded here and not before. Rejects with
 * `keys.no-library`; whether the keychain can be used shows at `probe` or at the first operation.
 *
 * Besides the codes of the port: `keys.no-collection`, `keys.no-answer`, `keys.not-kept`, `keys.too-large`
 * (Windows), `keys.busy`, `keys.io` (the lock), `keys.failed` (anything else; the text is in the evidence).
 * After `keys.no-answer` from a call that hangs, only `process.exit` ends the process.
 */
export async function openOsStore(options: OsStoreOptions): Promise<KeyStore> {
  return new OsStore(await loadKeytar(), options);
}

async function loadKeytar(): Promise<Keytar> {
  try {
    return (await import('keytar')).default;
  } catch (cause) {
    throw osError(cause);
  }
}

/**
 * Lets the library connect to the keychain, which takes longer than all that is asked of it afterwards. It
 * looks for an item that nobody has, so nothing is unlocked and no window opens. What goes wrong shows again
 * when the store is opened.
 */
export function connectAhead({ service = SERVICE }: Pick<OsStoreOptions, 'service'>): void {
  const connected = loadKeytar().then((keytar) => keytar.getPassword(service, newProbe()));
  endNotBefore(connected.catch(() => undefined));
}

/** The account of a probe item: one that nobody has. */
function newProbe(): string {
  return PROBE_PREFIX + randomBytes(8).toString('hex');
}

class OsStore implements KeyStore {
  readonly kind = 'os';
  readonly description: string;
  readonly #keytar: Keytar;
  readonly #service: string;
  readonly #lockPath: string;
  readonly #patienceMs: number;
  readonly #platform: NodeJS.Platform;

  constructor(keytar: Keytar, options: OsStoreOptions) {
    this.#keytar = keytar;
    this.#service = options.service ?? SERVICE;
    this.#lockPath = join(options.home, 'keychain.lock');
    this.#patienceMs = options.patienceMs ?? PATIENCE_MS;
    this.#platform = options.platform ?? process.platform;
    this.description = DESCRIPTIONS[this.#platform] ?? 'OS keychain (Secret Service)';
  }

  async probe(): Promise<void> {
    const account = newProbe();
    const value = randomBytes(16).toString('hex');
    await this.#call((keytar) => keytar.setPassword(this.#service, account, value));
    const kept = await this.#read(account);
    await this.#call((keytar) => keytar.deletePassword(this.#service, account));
    if (kept !== value) throw notKept();
  }

  /** keytar replaces silently, so: look, write, read back, under a lock. A locked keychain refuses. */
  async put(account: string, secret: Secret): Promise<void> {
    this.#check(account, secret);
    await withLock(this.#lockPath, async () => {
      const stored = await this.#read(account);
      if (isStored(account, secret, stored === null ? undefined : new Secret(stored))) return;
      await this.#write(account, secret.reveal());
    });
  }

  /**
   * keytar replaces in one call; when what is read back is not what was written, the old value is put back.
   */
  async exchange(account: string, secret: Secret): Promise<void> {
    this.#check(account, secret);
    await withLock(this.#lockPath, async () => {
      const before = await this.#read(account);
      try {
        await this.#write(account, secret.reveal());
      } catch (thrown) {
        const after = await this.#read(account).catch(() => null);
        if (before !== null && after !== before) await this.#write(account, before).catch(() => undefined);
        throw thrown;
      }
    });
  }

  async get(account: string): Promise<Secret | undefined> {
    const stored = await this.#read(account);
    if (stored !== null) return new Secret(stored);
    // A locked keychain answers like one without the item.
    await this.probe();
    return undefined;
  }

  async accounts(): Promise<readonly string[]> {
    // libsecret's search hands keytar items without a value when the keychain is locked, and keytar 7.10.6
    // then ends the process with a segmentation fault. So the search comes only after a proof that it is
    // unlocked.
    await this.probe();
    const found = await this.#call((keytar) => keytar.findCredentials(this.#service));
    return listed(found.map(({ account }) => account));
  }

  async remove(account: string): Promise<boolean> {
    return withLock(this.#lockPath, async () => {
      const removed = await this.#call((keytar) => keytar.deletePassword(this.#service, account));
      // A locked keychain answers like one without the item.
      if (!removed) await this.probe();
      return removed;
    });
  }

  #check(account: string, secret: Secret): void {
    checkItem(account, secret);
    const bytes = Buffer.byteLength(secret.reveal());
    if (this.#platform === 'win32' && bytes > WINDOWS_LIMIT) throw tooLargeForWindows(bytes, WINDOWS_LIMIT);
  }

  async #write(account: string, text: string): Promise<void> {
    await this.#call((keytar) => keytar.setPassword(this.#service, account, text));
    if ((await this.#read(account)) !== text) throw notKept();
  }

  #read(account: string): Promise<string | null> {
    return this.#call((keytar) => keytar.getPassword(this.#service, account));
  }

  async #call<T>(ask: (keytar: Keytar) => Promise<T>): Promise<T> {
    const patience = Promise.withResolvers<never>();
    const timer = setTimeout(() => {
      leaveWithoutWaiting();
      patience.reject(noAnswer(this.#patienceMs));
    }, this.#patienceMs);
    try {
      return await Promise.race([ask(this.#keytar).catch(rejectMapped), patience.promise]);
    } finally {
      clearTimeout(timer);
    }
  }
}

let isLeaving = false;

/**
 * The call that does not answer holds a thread of libuv's pool for as long as a window stays open, and exit()
 * joins that thread: `process.exit` would hang, deaf to Ctrl-C. Replacing the process by one that only exits
 * keeps the exit code. Windows' keychain opens no windows, and has no execve.
 */
function leaveWithoutWaiting(): void {
  if (isLeaving || process.platform === 'win32') return;
  isLeaving = true;
  process.once('exit', (code) => process.execve?.('/bin/sh', ['sh', '-c', `exit ${String(code)}`], {}));
}

function rejectMapped(thrown: unknown): never {
  throw osError(thrown);
}

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
function osError(thrown: unknown): LifeboatError {
  const text = thrown instanceof Error ? thrown.message : String(thrown);
  const trouble = TROUBLES.find(({ says }) => says.test(text));
  const hint = trouble?.hint ?? '`lifeboat doctor` tries the keychain step by step';
  return new LifeboatError(
    trouble?.code ?? 'keys.failed',
    trouble?.shortMessage ?? 'the OS keychain failed',
    { hints: [hint, VAULT_HINT], evidence: { error: show(text) }, cause: thrown },
  );
}

/** The keychain took longer than `patienceMs`. */
function noAnswer(patienceMs: number): LifeboatError {
  const seconds = String(Math.ceil(patienceMs / 1000));
  return new LifeboatError('keys.no-answer', `the OS keychain has not answered for ${seconds} s`, {
    hints: [WINDOW_HINT, VAULT_HINT],
  });
}

/** Written and read back, and it was not the same. */
function notKept(): LifeboatError {
  return new LifeboatError('keys.not-kept', 'the OS keychain does not give back what was written to it', {
    hints: ['do not use the key that was being stored', VAULT_HINT],
  });
}

/** Windows keeps at most `limit` bytes for each item (CRED_MAX_CREDENTIAL_BLOB_SIZE). */
function tooLargeForWindows(bytes: number, limit: number): LifeboatError {
  return new LifeboatError(
    'keys.too-large',
    `the secret has ${String(bytes)} bytes and the Windows keychain takes ${String(limit)}`,
    { hints: ['nothing was written', VAULT_HINT], evidence: { bytes, limit } },
  );
}
