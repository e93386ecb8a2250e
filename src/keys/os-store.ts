import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type * as KeytarModule from 'keytar';
import { Secret } from '../base/secret.ts';
import { checkItem, isStored, listed, PROBE_PREFIX } from './items.ts';
import type { KeyStore } from './key-store.ts';
import { withLock } from './lock.ts';
import { noAnswer, notKept, osError, tooLargeForWindows } from './os-errors.ts';

export interface OsStoreOptions {
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
    this.#service = options.service ?? 'lifeboat';
    this.#lockPath = join(options.home, 'keychain.lock');
    this.#patienceMs = options.patienceMs ?? PATIENCE_MS;
    this.#platform = options.platform ?? process.platform;
    this.description = DESCRIPTIONS[this.#platform] ?? 'OS keychain (Secret Service)';
  }

  async probe(): Promise<void> {
    const account = PROBE_PREFIX + randomBytes(8).toString('hex');
    const value = randomBytes(16).toString('hex');
    await this.#call((keytar) => keytar.setPassword(this.#service, account, value));
    const kept = await this.#read(account);
    await this.#call((keytar) => keytar.deletePassword(this.#service, account));
    if (kept !== value) throw notKept();
  }

  /**
   * keytar replaces silently, so: look, write, read back, under a lock between processes. A locked keychain
   * refuses the write.
   */
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
