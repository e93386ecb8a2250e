import { LifeboatError } from '../base/errors.ts';
import type { Secret } from '../base/secret.ts';
import { show } from '../base/text.ts';

/**
 * Where secrets are stored: the OS keychain or the vault file. One item per key version; only `exchange`
 * overwrites. Every operation rejects with a LifeboatError whose code says what is missing:
 * `keys.no-library`, `keys.no-bus`, `keys.no-service`, `keys.no-collection`, `keys.locked`, `keys.no-answer`,
 * `keys.no-passphrase`, `keys.empty-passphrase`, `keys.wrong-passphrase`, `keys.damaged`, `keys.gone`,
 * `keys.permissions`, `keys.not-a-file`, `keys.io`, `keys.busy` (another process writes), `keys.not-kept`
 * (read back with another value), `keys.failed`.
 */
export interface KeyStore {
  readonly kind: 'os' | 'vault' | 'memory';
  /** For people: `OS keychain (Secret Service)`, `vault file /…/vault.age`. */
  readonly description: string;
  /** Proves with a random probe item that the store is usable: a locked keychain reads like an empty one. */
  probe(): Promise<void>;
  /**
   * Stores a new item, durable when it resolves. The same value again succeeds; another rejects with
   * `keys.exists`. Refuses first what some store cannot keep: `keys.bad-account`, `keys.empty`,
   * `keys.unstorable`, `keys.too-large` (Windows).
   */
  put(account: string, secret: Secret): Promise<void>;
  /**
   * Stores or replaces an item that is renewed, like a token; never a key. Durable when it resolves; the old
   * value is still there when it rejects. Refuses what `put` refuses, before anything is touched.
   */
  exchange(account: string, secret: Secret): Promise<void>;
  /** Undefined: the store is unlocked and does not have it. */
  get(account: string): Promise<Secret | undefined>;
  /** Sorted. */
  accounts(): Promise<readonly string[]>;
  /**
   * The file in which anyone who can read it can read the stored items; undefined if none is detected. For
   * reports on a store, not for each use.
   */
  heldInClear?(): Promise<string | undefined>;
  /**
   * Stores all items as `put` does, or none when it rejects. A vault file is written once; in a keychain a
   * process that dies inside leaves some, which a repetition accepts.
   */
  putAll(items: ReadonlyMap<string, Secret>): Promise<void>;
  /**
   * Encrypts a vault file to another passphrase, which `ask` gives once the present one has opened it. The
   * new file is read back and opened before it replaces the old one: one of them is whole at every instant.
   * Missing if the store has no passphrase of its own.
   */
  changePassphrase?(ask: () => Promise<Secret>): Promise<void>;
  /** Resolves to whether it existed. Only an explicit command calls it. */
  remove(account: string): Promise<boolean>;
}

/** For flows and commands: keys of instances by fingerprint. Accounts are `<instance>/<fingerprint>`. */
export interface Keyring {
  readonly store: KeyStore;
  /** `hmac-sha256(installation secret, key)`, 12 lower-case hex digits: the only printable form of a key. */
  fingerprint(key: Secret): Promise<string>;
  /** The secret that gives a key this fingerprint: the store's own, or one that it learned. */
  secretOf(fingerprint: string, key: Secret): Promise<Secret | undefined>;
  /** Keeps another key store's fingerprint secret, so that both name a key alike; its own if it had none. */
  learn(secret: Secret): Promise<void>;
  /** A key's fingerprints under all secrets of this store, its own first. */
  namesOf(key: Secret): Promise<readonly string[]>;
  /** Returns the fingerprint. Overwrites nothing; storing the same key again succeeds. */
  add(instance: string, key: Secret): Promise<string>;
  /** Of one instance or of all, with the fingerprint secrets. */
  bundle(instance?: string): Promise<KeyBundle>;
  /**
   * Stores every key under its fingerprint and learns the secrets: all of it, or nothing when it rejects. A
   * key that is stored with another value rejects with `keys.exists`, before anything is written. `more`:
   * items stored together with them.
   */
  takeBundle(bundle: KeyBundle, more?: ReadonlyMap<string, Secret>): Promise<{ readonly added: number }>;
  /**
   * Stores a key under another key store's fingerprint, so that the record's name finds it; this store cannot
   * verify that it is that key. Rejects with `keys.exists` if another key is stored under it.
   */
  adopt(instance: string, fingerprint: string, key: Secret): Promise<void>;
  load(instance: string, fingerprint: string): Promise<Secret | undefined>;
  /** Sorted. */
  list(instance: string): Promise<readonly string[]>;
  /** As `list`, for every instance that has a key, by its name, in one look at the store. */
  listAll(): Promise<ReadonlyMap<string, readonly string[]>>;
  remove(instance: string, fingerprint: string): Promise<boolean>;
  /** PKCS#8 PEM of this installation's ed25519 key, created on first use and kept in the store. */
  signingKey(): Promise<Secret>;
  /** As `signingKey`, a P-256 key for receipts. */
  receiptKey(): Promise<Secret>;
  /** Whether the two secrets exist on which all else depends. Creates nothing. Rejects as the store does. */
  roots(): Promise<{ readonly installationSecret: boolean; readonly signingKey: boolean }>;
}

export interface KeyBundle {
  readonly keys: readonly { readonly instance: string; readonly fingerprint: string; readonly key: Secret }[];
  /** The key store's own first, then those it learned. */
  readonly fingerprintSecrets: readonly Secret[];
}

/** Characters of a new vault's passphrase: a thief of the file can guess at any rate. */
export const MIN_PASSPHRASE = 12;

/** Of items that are not an instance's keys; no instance may have this name. */
export const RESERVED_ACCOUNT_PREFIX = 'lifeboat/';

const MAX_ACCOUNT = 200;

/** A process that dies during a probe leaves one item behind; no store lists them. */
export const PROBE_PREFIX = `${RESERVED_ACCOUNT_PREFIX}probe-`;

/**
 * Refuses what some store cannot return unchanged: accounts that are not `<owner>/<name>` in printable text
 * (`keys.bad-account`), empty secrets (`keys.empty`), and NUL or lone surrogates (`keys.unstorable`:
 * keychains end a text at NUL and store UTF-8).
 */
export function checkItem(account: string, secret: Secret): void {
  const [owner, ...name] = account.split('/');
  if (!owner || !name.join('') || account.length > MAX_ACCOUNT || show(account, MAX_ACCOUNT) !== account) {
    throw new LifeboatError('keys.bad-account', `${show(account)} is not a name for an item in a key store`, {
      hints: [
        `names are <instance>/<fingerprint>, printable, no longer than ${String(MAX_ACCOUNT)} characters`,
      ],
    });
  }
  const text = secret.reveal();
  if (text === '') {
    throw new LifeboatError('keys.empty', 'an empty secret cannot be stored', {
      hints: ['nothing was written', 'give the key itself'],
    });
  }
  if (text.includes('\0') || !text.isWellFormed()) {
    throw new LifeboatError('keys.unstorable', 'the secret holds characters that a keychain cannot keep', {
      hints: ['nothing was written', 'keys are text without NUL characters or broken surrogate pairs'],
    });
  }
}

/** True for the same value; throws `keys.exists` for another: nothing is overwritten. */
export function isStored(account: string, secret: Secret, stored: Secret | undefined): boolean {
  if (stored === undefined) return false;
  if (stored.equals(secret)) return true;
  throw new LifeboatError('keys.exists', `${account} is already stored with another value`, {
    hints: ['nothing was overwritten: the stored value is still there'],
    evidence: { account },
  });
}

/** `putAll` for a store of single items: if one fails, removes those it stored. */
export async function putEach(store: KeyStore, items: ReadonlyMap<string, Secret>): Promise<void> {
  const missing: (readonly [string, Secret])[] = [];
  for (const [account, secret] of items) {
    checkItem(account, secret);
    if (!isStored(account, secret, await store.get(account))) missing.push([account, secret]);
  }
  const begun: string[] = [];
  try {
    for (const [account, secret] of missing) {
      begun.push(account);
      await store.put(account, secret);
    }
  } catch (thrown) {
    for (const account of begun) await store.remove(account).catch(() => undefined);
    throw thrown;
  }
}

/** Sorted, without probe items. */
export function listed(accounts: Iterable<string>): readonly string[] {
  return [...accounts].filter((account) => !account.startsWith(PROBE_PREFIX)).sort();
}

/** For rehearsals and tests: the same rules; the process's end removes everything. */
export function memoryStore(): KeyStore {
  const items = new Map<string, Secret>();
  const store: KeyStore = {
    kind: 'memory',
    description: 'memory of this process',
    probe: async () => {},
    put: async (account, secret) => {
      checkItem(account, secret);
      if (!isStored(account, secret, items.get(account))) items.set(account, secret);
    },
    exchange: async (account, secret) => {
      checkItem(account, secret);
      items.set(account, secret);
    },
    get: async (account) => items.get(account),
    putAll: (more) => putEach(store, more),
    accounts: async () => listed(items.keys()),
    remove: async (account) => items.delete(account),
  };
  return store;
}
