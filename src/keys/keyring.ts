import { createHmac, generateKeyPairSync, hash, randomBytes } from 'node:crypto';
import { LifeboatError } from '../base/errors.ts';
import { msOf } from '../base/instant.ts';
import { Secret } from '../base/secret.ts';
import { show } from '../base/text.ts';
import { Fingerprint, type KeyEpoch } from '../store/projections/key-epochs.ts';
import { type Keyring, type KeyStore, RESERVED_ACCOUNT_PREFIX } from './key-store.ts';

const INSTALLATION_SECRET = `${RESERVED_ACCOUNT_PREFIX}installation-secret`;
/** Fingerprint secrets of other key stores. */
const LEARNED = `${RESERVED_ACCOUNT_PREFIX}fingerprint-secret-`;
const SIGNING_KEY = `${RESERVED_ACCOUNT_PREFIX}signing-key`;
const RECEIPT_KEY = `${RESERVED_ACCOUNT_PREFIX}receipt-key`;

/**
 * Keys of instances by fingerprint, over any store. The installation secret and the signing key are created
 * on first use; if several processes do so together, all get the one stored first.
 *
 * A fingerprint is the first 12 hex digits of HMAC-SHA256 with the text of the installation secret as the key
 * and the text of the encryption key as the message, both UTF-8: `openssl dgst -sha256 -hmac` gives the same.
 * Rejects with the store's errors, and `keys.bad-instance` for a name that cannot own items.
 */
export function openKeyring(store: KeyStore): Keyring {
  const installationSecret = rootIn(store, INSTALLATION_SECRET, generateKey);
  const signingKey = rootIn(store, SIGNING_KEY, generateSigningKey);
  const receiptKey = rootIn(store, RECEIPT_KEY, generateReceiptKey);

  async function fingerprint(key: Secret): Promise<string> {
    return fingerprintUnder(await installationSecret.take(), key);
  }

  /** Secrets of other key stores. */
  async function learned(): Promise<Secret[]> {
    const accounts = (await store.accounts()).filter((account) => account.startsWith(LEARNED));
    const secrets = await Promise.all(accounts.map((account) => store.get(account)));
    return secrets.filter((secret) => secret !== undefined);
  }

  return {
    store,
    fingerprint,
    signingKey: signingKey.take,
    receiptKey: receiptKey.take,
    roots: async () => {
      const [hasSecret, hasKey] = await Promise.all([installationSecret.isThere(), signingKey.isThere()]);
      return { installationSecret: hasSecret, signingKey: hasKey };
    },
    secretOf: async (name, key) => {
      const known = [await installationSecret.take(), ...(await learned())];
      return known.find((secret) => fingerprintUnder(secret, key) === name);
    },
    learn: async (secret) => {
      if (!(await installationSecret.isThere())) {
        await makeOnce(store, INSTALLATION_SECRET, () => secret);
      }
      if ((await installationSecret.take()).equals(secret)) return;
      await store.put(learnedAccount(secret), secret);
    },
    namesOf: async (key) => {
      const known = [await installationSecret.take(), ...(await learned())];
      return known.map((secret) => fingerprintUnder(secret, key));
    },
    add: async (instance, key) => {
      const name = await fingerprint(key);
      await store.put(accountOf(instance, name), key);
      return name;
    },
    bundle: async (only) => {
      const names = keysAmong(await store.accounts()).filter(
        ({ instance }) => only === undefined || instance === only,
      );
      const keys = await Promise.all(
        names.map(async ({ account, ...named }) => ({ ...named, key: await store.get(account) })),
      );
      return {
        keys: keys.flatMap(({ key, ...named }) => (key === undefined ? [] : [{ ...named, key }])),
        fingerprintSecrets: [await installationSecret.take(), ...(await learned())],
      };
    },
    takeBundle: async ({ keys, fingerprintSecrets }, more = new Map<string, Secret>()) => {
      const items = new Map(more);
      for (const one of keys) items.set(accountOf(one.instance, one.fingerprint), one.key);
      const [first] = fingerprintSecrets;
      const hasOwn = await installationSecret.isThere();
      if (!hasOwn && first !== undefined) items.set(INSTALLATION_SECRET, first);
      const own = hasOwn ? await installationSecret.take() : first;
      for (const secret of fingerprintSecrets)
        if (own?.equals(secret) !== true) items.set(learnedAccount(secret), secret);
      const there = new Set(await store.accounts());
      await store.putAll(items);
      const added = keys.filter((one) => !there.has(accountOf(one.instance, one.fingerprint)));
      return { added: added.length };
    },
    adopt: async (instance, name, key) => store.put(accountOf(instance, Fingerprint.parse(name)), key),
    load: async (instance, name) => store.get(accountOf(instance, name)),
    list: async (instance) => {
      const owner = accountOf(instance, '');
      const accounts = await store.accounts();
      const names = accounts
        .filter((account) => account.startsWith(owner))
        .map((account) => account.slice(owner.length));
      return names.filter((name) => Fingerprint.safeParse(name).success);
    },
    listAll: async () => {
      const byInstance = Map.groupBy(keysAmong(await store.accounts()), ({ instance }) => instance);
      return new Map(
        [...byInstance].map(([instance, keys]) => [instance, keys.map(({ fingerprint }) => fingerprint)]),
      );
    },
    remove: async (instance, name) => store.remove(accountOf(instance, name)),
  };
}

function keysAmong(accounts: readonly string[]) {
  return accounts.flatMap((account) => {
    const [instance = '', fingerprint = '', ...more] = account.split('/');
    const isKey = more.length === 0 && Fingerprint.safeParse(fingerprint).success;
    return isKey ? [{ instance, fingerprint, account }] : [];
  });
}

function learnedAccount(secret: Secret): string {
  return `${LEARNED}${hash('sha256', secret.reveal(), 'hex').slice(0, 12)}`;
}

/** The stored item, or a new one. Overwrites nothing: a process that comes second uses the existing one. */
export async function makeOnce(store: KeyStore, account: string, make: () => Secret): Promise<Secret> {
  const stored = await store.get(account);
  if (stored !== undefined) return stored;
  try {
    await store.put(account, make());
  } catch (thrown) {
    if (!(thrown instanceof LifeboatError && thrown.code === 'keys.exists')) throw thrown;
  }
  const kept = await store.get(account);
  if (kept !== undefined) return kept;
  throw new LifeboatError('keys.not-kept', `${store.description} does not give back what was written to it`, {
    hints: ['nothing was sent to the service', '`lifeboat doctor` tries the key store step by step'],
    evidence: { account },
  });
}

/** A secret that all else in a store depends on. */
interface Root {
  /** Created on first use. After a failure it is read again: a keychain can be unlocked. */
  take(): Promise<Secret>;
  /** If true, `take` does not read it again. Creates nothing. */
  isThere(): Promise<boolean>;
}

function rootIn(store: KeyStore, account: string, make: () => Secret): Root {
  let known: Promise<Secret> | undefined;
  return {
    take: () => {
      known ??= makeOnce(store, account, make).catch((thrown: unknown) => {
        known = undefined;
        throw thrown;
      });
      return known;
    },
    isThere: async () => {
      const stored = await store.get(account);
      if (stored !== undefined) known ??= Promise.resolve(stored);
      return stored !== undefined;
    },
  };
}

/** The first 12 hex digits of HMAC-SHA256 over the text of the key. */
export function fingerprintUnder(secret: Secret, key: Secret): string {
  return createHmac('sha256', secret.reveal()).update(key.reveal()).digest('hex').slice(0, 12);
}

/** PKCS#8 PEM; not stored. */
export function generateSigningKey(): Secret {
  const { privateKey } = generateKeyPairSync('ed25519');
  return new Secret(privateKey.export({ type: 'pkcs8', format: 'pem' }).toString());
}

/** PKCS#8 PEM; not stored. P-256, since not every tool that checks a receipt knows ed25519 (cosign). */
export function generateReceiptKey(): Secret {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return new Secret(privateKey.export({ type: 'pkcs8', format: 'pem' }).toString());
}

function accountOf(instance: string, fingerprint: string): string {
  const account = `${instance}/${fingerprint}`;
  if (instance !== '' && !instance.includes('/') && !account.startsWith(RESERVED_ACCOUNT_PREFIX))
    return account;
  throw new LifeboatError(
    'keys.bad-instance',
    `an instance cannot be called ${show(instance) || '(empty)'}`,
    { hints: ["give it another name in lifeboat.yaml: without a slash, and not 'lifeboat'"] },
  );
}

/**
 * 32 random bytes as base64url, 43 ASCII characters without quote, space or line end: safe for shells and
 * `openssl enc -pass file:`. Callers compare the length with the instance's `min_encryption_key_length`.
 */
export function generateKey(): Secret {
  return new Secret(randomBytes(32).toString('base64url'));
}

/**
 * Identifies a generated key in any key store: 16 hex digits of a SHA-256. Reveals nothing about 32 random
 * bytes; for a key that a person chose, it must not be recorded.
 */
export function checkOfGenerated(key: Secret): string {
  return hash('sha256', `lifeboat key\n${key.reveal()}`, 'hex').slice(0, 16);
}

/** A key with the only form in which it may be named. */
export interface HeldKey {
  readonly fingerprint: string;
  readonly key: Secret;
}

/**
 * Sorted by fingerprint, `first` before the others if held. Leaves out a key removed in the meantime. Rejects
 * with the key store's errors.
 */
export async function heldKeys(keyring: Keyring, instance: string, first?: string): Promise<HeldKey[]> {
  const held = await keyring.list(instance);
  return keysNamed(keyring, instance, [...new Set(first === undefined ? held : [first, ...held])]);
}

/** Without those that are not held. Rejects with the key store's errors. */
export async function keysNamed(
  keyring: Keyring,
  instance: string,
  fingerprints: readonly string[],
): Promise<HeldKey[]> {
  const loaded = await Promise.all(
    fingerprints.map(async (fingerprint) => ({
      fingerprint,
      key: await keyring.load(instance, fingerprint),
    })),
  );
  return loaded.flatMap(({ fingerprint, key }) => (key === undefined ? [] : [{ fingerprint, key }]));
}

/**
 * Until when a request with a key other than `fingerprint` (undefined: any key) may still arrive, because its
 * answer was lost less than `inFlightMs` ago. It would replace a key set since, and the ledger would show the
 * wrong one in force. Milliseconds since 1970; undefined if there is none at `nowMs`.
 */
export function lateKeyUntil(
  epochs: readonly KeyEpoch[],
  when: { readonly inFlightMs: number; readonly nowMs: number },
  fingerprint?: string,
): number | undefined {
  const ends = epochs.flatMap((epoch) =>
    epoch.lostAt === undefined || epoch.fingerprint === fingerprint
      ? []
      : [msOf(epoch.lostAt) + when.inFlightMs],
  );
  const until = Math.max(...ends);
  return until > when.nowMs ? until : undefined;
}
