import { LifeboatError } from '../base/errors.ts';
import type { Secret } from '../base/secret.ts';
import { show } from '../base/text.ts';

/**
 * Where secrets are stored: the OS keychain or the vault file. One item per key version; only `exchange`
 * overwrites. Every operation rejects with a LifeboatError whose code says what is missing:
 * `keys.no-library`, `keys.no-bus`, `keys.no-service`, `keys.no-collection`, `keys.locked`, `keys.no-answer`,
 * `keys.no-passphrase`, `keys.empty-passphrase`, `keys.wrong-passphrase`, `keys.damaged`, `keys.gone`,
 * `keys.permissions`, `keys.not-a-file`, `keys.io`, `keys.busy` (another process is writing), `keys.not-kept`
 * (read back, and not the same), `keys.failed`.
 */
export interface KeyStore {
  readonly kind: 'os' | 'vault' | 'memory';
  /** A description for people: `OS keychain (Secret Service)`, `vault file /…/vault.age`. */
  readonly description: string;
  /**
   * Writes, reads and removes a random probe item. Resolves only if the store is usable: a locked keychain
   * answers reads like an empty one.
   */
  probe(): Promise<void>;
  /**
   * Stores a new item. Durable when it resolves. Storing the same value again succeeds; another value rejects
   * with `keys.exists`. Refuses in advance what some store cannot keep: `keys.bad-account`, `keys.empty`,
   * `keys.unstorable`, `keys.too-large` (Windows).
   */
  put(account: string, secret: Secret): Promise<void>;
  /**
   * Stores an item, replacing one with another value: for things that are renewed, like a token; a key is
   * never exchanged. Durable when it resolves; the old value is still there when it rejects. Refuses what
   * `put` refuses, before anything is touched.
   */
  exchange(account: string, secret: Secret): Promise<void>;
  /** `undefined` means that the store is unlocked and does not have it. */
  get(account: string): Promise<Secret | undefined>;
  /** Names of all items, sorted. */
  accounts(): Promise<readonly string[]>;
  /**
   * The file in which stored items are readable for everyone who can read the file; undefined if there is
   * none, as far as can be detected. Called to report on a store, not at each use.
   */
  heldInClear?(): Promise<string | undefined>;
  /**
   * Stores items together, as `put` does each: all of them, or none when it rejects. A vault file is written
   * once; in a keychain a process that dies inside leaves some of them, which are taken as they are when it
   * is done again.
   */
  putAll(items: ReadonlyMap<string, Secret>): Promise<void>;
  /**
   * Encrypts a vault file to another passphrase, which `ask` gives once the present one has opened it. The
   * new file is read back and opened before it takes the place of the old one: one of them is there whole at
   * every instant. Missing where the store has no passphrase of its own.
   */
  changePassphrase?(ask: () => Promise<Secret>): Promise<void>;
  /** Removes an item; resolves to whether it existed. Only an explicit command calls it. */
  remove(account: string): Promise<boolean>;
}

/**
 * The interface for flows and commands: keys of instances by fingerprint. Accounts are
 * `<instance>/<fingerprint>`.
 */
export interface Keyring {
  readonly store: KeyStore;
  /** `hmac-sha256(installation secret, key)`, 12 lower-case hex digits: the only printable form of a key. */
  fingerprint(key: Secret): Promise<string>;
  /**
   * The secret that gives a key this fingerprint: this key store's own, or one that it learned. Undefined if
   * none of them does.
   */
  secretOf(fingerprint: string, key: Secret): Promise<Secret | undefined>;
  /**
   * Keeps the fingerprint secret of another key store, so that both name one key alike. It becomes this key
   * store's own if it has none yet.
   */
  learn(secret: Secret): Promise<void>;
  /** Every fingerprint that a key has under the secrets of this key store, its own first. */
  namesOf(key: Secret): Promise<readonly string[]>;
  /**
   * Stores a key and returns its fingerprint. Nothing is overwritten; storing the same key again succeeds.
   */
  add(instance: string, key: Secret): Promise<string>;
  /** The keys of one instance or of all, with the secrets that give them their fingerprints. */
  bundle(instance?: string): Promise<KeyBundle>;
  /**
   * Stores every key of a bundle under its fingerprint and learns its secrets: all of it, or nothing when it
   * rejects. What is stored already stays; a key that is stored with another value rejects with
   * `keys.exists`, before anything is written. `more` are items that come with them, or stay away with them.
   */
  takeBundle(bundle: KeyBundle, more?: ReadonlyMap<string, Secret>): Promise<{ readonly added: number }>;
  /**
   * Stores a key under a fingerprint from another key store, so that it is found under its name in the
   * record; this key store cannot verify that it is that key. Rejects with `keys.exists` if another one is
   * stored under it.
   */
  adopt(instance: string, fingerprint: string, key: Secret): Promise<void>;
  load(instance: string, fingerprint: string): Promise<Secret | undefined>;
  /** Fingerprints of the keys stored for an instance, sorted. */
  list(instance: string): Promise<readonly string[]>;
  /** The same of every instance that has a key, by its name, in one look at the store. */
  listAll(): Promise<ReadonlyMap<string, readonly string[]>>;
  remove(instance: string, fingerprint: string): Promise<boolean>;
  /** PKCS#8 PEM of this installation's ed25519 signing key, created on first use and kept in the store. */
  signingKey(): Promise<Secret>;
  /** PKCS#8 PEM of this installation's P-256 key for receipts, created on first use and kept in the store. */
  receiptKey(): Promise<Secret>;
  /**
   * Whether the store has the two secrets that everything else depends on. Creates nothing. Rejects as the
   * store does.
   */
  roots(): Promise<{ readonly installationSecret: boolean; readonly signingKey: boolean }>;
}

/** Keys that move together. */
export interface KeyBundle {
  readonly keys: readonly { readonly instance: string; readonly fingerprint: string; readonly key: Secret }[];
  /** That of the key store first, then those it has learned. */
  readonly fingerprintSecrets: readonly Secret[];
}

/** The minimum characters of a new vault's passphrase: a thief of the file can guess at any rate. */
export const MIN_PASSPHRASE = 12;

/** The prefix of items that are not keys of an instance; no instance may have this name. */
export const RESERVED_ACCOUNT_PREFIX = 'lifeboat/';

const MAX_ACCOUNT = 200;

/** Accounts of probe items. A process that dies during a probe leaves one behind; no store lists them. */
export const PROBE_PREFIX = `${RESERVED_ACCOUNT_PREFIX}probe-`;

/**
 * Refuses what some store cannot return unchanged: account names that are not `<owner>/<name>` in printable
 * text (`keys.bad-account`), empty secrets (`keys.empty`: no keychain accepts them), and NUL or lone
 * surrogates (`keys.unstorable`: keychains end a text at NUL and store UTF-8).
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

/**
 * Nothing is overwritten: an item with the same value is accepted (`true`), another value is `keys.exists`.
 */
export function isStored(account: string, secret: Secret, stored: Secret | undefined): boolean {
  if (stored === undefined) return false;
  if (stored.equals(secret)) return true;
  throw new LifeboatError('keys.exists', `${account} is already stored with another value`, {
    hints: ['nothing was overwritten: the stored value is still there'],
    evidence: { account },
  });
}

/** `putAll` of a store that keeps each item by itself: what was stored is removed again when one fails. */
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

/** A list of items: sorted, without probe items. */
export function listed(accounts: Iterable<string>): readonly string[] {
  return [...accounts].filter((account) => !account.startsWith(PROBE_PREFIX)).sort();
}

/** A store for rehearsals and tests: the same rules, and everything is gone when the process ends. */
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
