import { spawn } from 'node:child_process';
import { hash, randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type * as KeytarModule from 'keytar';
import * as z from 'zod';
import { LifeboatError } from '../base/errors.ts';
import { ownProgram } from '../base/own-program.ts';
import { Secret } from '../base/secret.ts';
import { checkItem, isStored, type KeyStore, listed, PROBE_PREFIX, putEach } from './key-store.ts';
import { keyringFiles } from './keyring-files.ts';
import { withLock } from './lock.ts';
import { noAnswer, notKept, osError, tooLargeForWindows } from './os-trouble.ts';

interface OsStoreOptions {
  /** `$LIFEBOAT_HOME`, for the lock between processes that write keys (`keychain.lock`). */
  readonly home: string;
  /** Of all items. Default: `lifeboat`. */
  readonly service?: string;
  /** Of one call. Default: 60 s, since a desktop may ask its user for a password. */
  readonly patienceMs?: number;
  /** The files of Linux's keychain service, to explain errors. */
  readonly keyrings?: string | undefined;
  readonly platform?: NodeJS.Platform;
}

type Item = Awaited<ReturnType<typeof KeytarModule.findCredentials>>[number];
type Keytar = Omit<typeof KeytarModule, 'default'>;

const DESCRIPTIONS: Partial<Record<NodeJS.Platform, string>> = {
  darwin: 'OS keychain (macOS Keychain)',
  win32: 'OS keychain (Windows Credential Manager)',
};

const SERVICE = 'lifeboat';
const WINDOWS_LIMIT = 2560;
const PATIENCE_MS = 60_000;

/**
 * The operating system's keychain, through keytar, which is first loaded here. Rejects with
 * `keys.no-library`; `probe` or the first operation shows if the keychain is usable.
 *
 * Besides the codes of `KeyStore`: `keys.too-large` (Windows), `keys.io` (the lock), `keys.failed` (anything
 * else; the text is in the evidence). After `keys.no-answer` from a call that hangs, only `process.exit` ends
 * the process.
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

/** Checks for another process what a separate connection finds: see `isReadBack`. */
export async function answerFromKeychain(
  input: NodeJS.ReadableStream,
  output: { write(text: string): unknown },
): Promise<void> {
  await readItemForParent(input, output, await loadKeytar());
}

/**
 * Probe items have their own service, out of searches: if an item vanishes during a search, libsecret gives
 * keytar an item without a value, and keytar 7.10.6 dies of a segmentation fault.
 */
function probesOf(service: string): string {
  return `${service}-probe`;
}

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
  readonly #keyrings: string | undefined;
  #isRenewed = false;

  constructor(keytar: Keytar, options: OsStoreOptions) {
    this.#keytar = keytar;
    this.#service = options.service ?? SERVICE;
    this.#lockPath = join(options.home, 'keychain.lock');
    this.#patienceMs = options.patienceMs ?? PATIENCE_MS;
    this.#platform = options.platform ?? process.platform;
    this.#keyrings = options.keyrings;
    this.description = DESCRIPTIONS[this.#platform] ?? 'OS keychain (Secret Service)';
  }

  async probe(): Promise<void> {
    await this.#prove();
    if (!this.#isRenewed) await this.#renew(await this.#find());
  }

  /** The plain-text file in which a stored probe item was found. */
  async heldInClear(): Promise<string | undefined> {
    return this.#prove(
      (value) => keyringFiles(this.#keyrings).find(({ text }) => text.includes(value))?.path,
    );
  }

  /** keytar replaces silently, so: look, write, read back, under a lock. A locked keychain refuses. */
  async put(account: string, secret: Secret): Promise<void> {
    this.#check(account, secret);
    await withLock(this.#lockPath, async () => {
      const stored = await this.#read(account);
      if (isStored(account, secret, stored === null ? undefined : secretIn(stored))) return;
      await this.#write(account, inOneLine(secret.reveal()));
    });
  }

  putAll(items: ReadonlyMap<string, Secret>): Promise<void> {
    return putEach(this, items);
  }

  /** keytar replaces in one call; if the value read back differs, the old value is restored. */
  async exchange(account: string, secret: Secret): Promise<void> {
    this.#check(account, secret);
    await withLock(this.#lockPath, async () => {
      const before = await this.#read(account);
      await this.#replace(account, before, inOneLine(secret.reveal()));
    });
  }

  async get(account: string): Promise<Secret | undefined> {
    const stored = await this.#read(account);
    if (stored !== null) return secretIn(stored);
    // A locked keychain answers like one without the item.
    await this.#prove();
    return undefined;
  }

  async accounts(): Promise<readonly string[]> {
    // If the keychain is locked, libsecret's search gives items without a value, at which keytar 7.10.6 dies
    // of a segmentation fault. So first prove that it is unlocked.
    await this.#prove();
    const found = await this.#find();
    await this.#renew(found);
    return listed(found.map(({ account }) => account));
  }

  async remove(account: string): Promise<boolean> {
    return withLock(this.#lockPath, async () => {
      const removed = await this.#call((keytar) => keytar.deletePassword(this.#service, account));
      // A locked keychain answers like one without the item.
      if (!removed) await this.#prove();
      return removed;
    });
  }

  #check(account: string, secret: Secret): void {
    checkItem(account, secret);
    const bytes = Buffer.byteLength(inOneLine(secret.reveal()));
    if (this.#platform === 'win32' && bytes > WINDOWS_LIMIT) throw tooLargeForWindows(bytes, WINDOWS_LIMIT);
  }

  /** Stores, reads and removes a probe item; calls `look` while it is stored. */
  async #prove<T>(look?: (value: string) => T): Promise<T | undefined> {
    const service = probesOf(this.#service);
    const account = newProbe();
    const value = randomBytes(16).toString('hex');
    await this.#call((keytar) => keytar.setPassword(service, account, value));
    const kept = await this.#call((keytar) => keytar.getPassword(service, account));
    const seen = look?.(value);
    await this.#call((keytar) => keytar.deletePassword(service, account));
    if (kept !== value) throw notKept();
    return seen;
  }

  /**
   * Under the lock, as removals run (see `probesOf`). A home that is not writable has no lock, and no process
   * that would remove anything.
   */
  #find(): Promise<readonly Item[]> {
    const search = () => this.#call((keytar) => keytar.findCredentials(this.#service));
    return withLock(this.#lockPath, search).catch((thrown: unknown) => {
      if (thrown instanceof LifeboatError && thrown.code === 'keys.io') return search();
      throw thrown;
    });
  }

  /** Stores again items from before the one-line form existed. */
  async #renew(found: readonly Item[]): Promise<void> {
    const old = found.filter(({ password }) => inOneLine(fromOneLine(password)) !== password);
    for (const { account } of old)
      await withLock(this.#lockPath, async () => {
        const stored = await this.#read(account);
        if (stored !== null) await this.#replace(account, stored, inOneLine(fromOneLine(stored)));
      });
    this.#isRenewed = true;
  }

  async #replace(account: string, before: string | null, line: string): Promise<void> {
    if (before === line) return;
    try {
      await this.#write(account, line);
    } catch (thrown) {
      const after = await this.#read(account).catch(() => null);
      if (before !== null && after !== before) await this.#set(account, before).catch(() => undefined);
      throw thrown;
    }
  }

  async #write(account: string, line: string): Promise<void> {
    await this.#set(account, line);
    if ((await this.#read(account)) !== line) throw notKept();
    const item = { service: this.#service, account };
    if (!(await this.#patiently((signal) => isReadBack(item, line, signal)))) throw notKept();
  }

  #set(account: string, line: string): Promise<void> {
    return this.#call((keytar) => keytar.setPassword(this.#service, account, line));
  }

  #read(account: string): Promise<string | null> {
    return this.#call((keytar) => keytar.getPassword(this.#service, account));
  }

  #call<T>(ask: (keytar: Keytar) => Promise<T>): Promise<T> {
    return this.#patiently(() => ask(this.#keytar), leaveWithoutWaiting);
  }

  async #patiently<T>(ask: (signal: AbortSignal) => Promise<T>, onSilence?: () => void): Promise<T> {
    const patience = Promise.withResolvers<never>();
    const silence = new AbortController();
    const timer = setTimeout(() => {
      onSilence?.();
      patience.reject(noAnswer(this.#patienceMs));
      silence.abort();
    }, this.#patienceMs);
    const mapped = (thrown: unknown) => {
      throw osError(thrown, this.#keyrings);
    };
    try {
      return await Promise.race([ask(silence.signal).catch(mapped), patience.promise]);
    } finally {
      clearTimeout(timer);
    }
  }
}

function secretIn(line: string): Secret {
  return new Secret(fromOneLine(line));
}

let isLeaving = false;

/**
 * A call without an answer occupies a thread of libuv's pool while a window is open, and exit() joins that
 * thread: `process.exit` would hang, deaf to Ctrl-C. A process that only exits replaces this one and keeps
 * the exit code. Windows' keychain opens no windows, and Windows has no execve.
 */
function leaveWithoutWaiting(): void {
  if (isLeaving || process.platform === 'win32') return;
  isLeaving = true;
  process.once('exit', (code) => process.execve?.('/bin/sh', ['sh', '-c', `exit ${String(code)}`], {}));
}

/** Before base64 of the UTF-8 of a text that a keychain cannot hold unchanged. */
const MARK = 'lifeboat-base64:';

/**
 * Printable ASCII without a backslash or outer spaces. gnome-keyring writes a keyring without a password as a
 * text file of `key=value` lines, which it reads with GLib: a line end makes the whole file unreadable,
 * including every other program's secrets; leading spaces are lost, and a backslash begins an escape.
 */
const FIT = /^[!-[\]-~](?:[ -[\]-~]*[!-[\]-~])?$/u;

/** The line in which a keychain stores a text; always the same for the same text. */
export function inOneLine(text: string): string {
  if (FIT.test(text) && !text.startsWith(MARK)) return text;
  return MARK + Buffer.from(text, 'utf8').toString('base64');
}

/** The text of such a line. A line that `inOneLine` would not write is taken literally. */
export function fromOneLine(line: string): string {
  if (!line.startsWith(MARK)) return line;
  const text = Buffer.from(line.slice(MARK.length), 'base64').toString('utf8');
  return text !== '' && inOneLine(text) === line ? text : line;
}

/** Hidden command: reads one item and exits. */
const READ_ITEM = 'keychain-item';

const Wanted = z.strictObject({ service: z.string(), account: z.string(), salt: z.string() });

/** For a keychain and Node; everything else, such as tokens, is withheld. */
const PASSED =
  /^(?:HOME|USER|LOGNAME|USERNAME|USERPROFILE|APPDATA|LOCALAPPDATA|SystemRoot|PATH|TMPDIR|TEMP|TMP|LANG|LC_.*|LD_LIBRARY_PATH|DBUS_.*|XDG_.*|GNOME_KEYRING_.*|DISPLAY|WAYLAND_DISPLAY|XAUTHORITY|LIFEBOAT_HOME)$/iu;

/**
 * Whether a process that never saw `line` finds it in the keychain: what only this process's library or
 * session remembers does not count as stored. Only a salted digest passes between the processes, no secret.
 * Rejects if there is no answer: aborted, or with the process's last output.
 */
async function isReadBack(
  item: { readonly service: string; readonly account: string },
  line: string,
  signal: AbortSignal,
): Promise<boolean> {
  const salt = randomBytes(16).toString('hex');
  const [program = process.execPath, ...words] = ownProgram();
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => PASSED.test(name)));
  const child = spawn(program, [...words, READ_ITEM], {
    env,
    signal,
    killSignal: 'SIGKILL',
    windowsHide: true,
  });
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  // The exit of the process reports that it is gone.
  child.stdin.on('error', () => undefined);
  child.stdin.end(JSON.stringify({ ...item, salt }));
  const [code, digest, said] = await Promise.all([ended, text(child.stdout), text(child.stderr)]);
  if (code !== 0) throw new Error(said.trim() || `the process that read it ended with ${String(code)}`);
  return digest.trim() === digestOf(line, salt);
}

/** In the child: prints the digest of the item requested on stdin, or nothing if there is none. */
async function readItemForParent(
  input: NodeJS.ReadableStream,
  output: { write(text: string): unknown },
  keytar: Pick<typeof KeytarModule, 'getPassword'>,
): Promise<void> {
  const { service, account, salt } = Wanted.parse(JSON.parse(await text(input)));
  const line = await keytar.getPassword(service, account);
  output.write(line === null ? '' : digestOf(line, salt));
}

function digestOf(line: string, salt: string): string {
  return hash('sha256', `${salt}\n${line}`, 'hex');
}
