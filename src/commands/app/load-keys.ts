import { failureOf } from '../../base/errors.ts';
import { show } from '../../base/text.ts';
import type { CommandContext } from '../../cli/context.ts';
import { recallBackups } from '../../compose/last-seen.ts';
import { openKeys } from '../../compose/workspace.ts';
import type { LoadedConfig } from '../../config/loaded.ts';
import { type Keyring, type KeyStore, RESERVED_ACCOUNT_PREFIX } from '../../keys/key-store.ts';
import { wantsPassphrase } from '../../view/app/app-port.ts';
import type { KeyRow, KeysFacts } from '../../view/app/sources.ts';
import { listKeys } from '../keys/key-rows.ts';

/** Of configured and other instances. Asks for no passphrase once the key store is open. */
export async function loadKeys(context: CommandContext, config: LoadedConfig): Promise<KeysFacts> {
  const keyring = await keptKeyring(context);
  const configured = Object.keys(config.instances);
  const owners = new Set([...configured, ...(await ownersIn(keyring))]);
  const { escrow } = config.keys;
  const { items, ledgers, holders, unread } = await listKeys(context, keyring, [...owners], {
    recall: recallBackups(context, config),
    escrow,
  });
  return {
    store: keyring.store.description,
    ...(unread === undefined ? {} : { unread: show(unread.shortMessage) }),
    holders: holders?.map(({ name, state, provenAt }) => ({ name: show(name, 60), state, provenAt })),
    rows: items.map(
      ({ held, custody, backups, verified, fitted, openers, places, endsAt, ...key }): KeyRow => ({
        ...key,
        isHeld: held,
        custody:
          unread === undefined
            ? {
                state: custody,
                ...{ needed: backups, verified, fitted },
                endsAt,
                ...(openers === 0 ? {} : { sealed: { places, people: openers } }),
              }
            : undefined,
        provenBackups: (ledgers.get(key.instance)?.proven ?? []).filter(
          ({ fingerprint }) => fingerprint === key.fingerprint,
        ).length,
        isConfigured: configured.includes(key.instance),
      }),
    ),
  };
}

async function ownersIn({ store }: Keyring): Promise<readonly string[]> {
  const accounts = (await store.accounts()).filter((account) => !account.startsWith(RESERVED_ACCOUNT_PREFIX));
  return accounts
    .map((account) => account.slice(0, account.lastIndexOf('/')))
    .filter((owner) => owner !== '');
}

/** After a failure, leaves the key store alone for this long: a prompt may have gone unanswered. */
const KEYS_AGAIN_MS = 5 * 60_000;

/**
 * Opens the key store at most once for each survey. After a failure it is left alone for some minutes, except
 * a locked vault: the next survey uses a passphrase entered elsewhere in the app, and does not ask.
 */
export function keyringOfEachLook(context: CommandContext): () => () => Promise<Keyring> {
  let failed:
    | { readonly keyring: Promise<Keyring>; readonly atMs: number; readonly code: string }
    | undefined;
  return () => {
    const isOver =
      failed !== undefined &&
      (wantsPassphrase(failed.code) || performance.now() - failed.atMs > KEYS_AGAIN_MS);
    let keyring = isOver ? undefined : failed?.keyring;
    return () => {
      // Another part of the app may have opened it.
      const elsewhere = opened.get(context);
      if (elsewhere !== undefined) return elsewhere;
      if (keyring === undefined) {
        failed = undefined;
        const opening = keptKeyring(context);
        keyring = opening;
        opening.catch((thrown: unknown) => {
          failed = { keyring: opening, atMs: performance.now(), code: failureOf(thrown).code };
        });
      }
      return keyring;
    };
  };
}

const opened = new WeakMap<CommandContext, Promise<Keyring>>();

/**
 * The key store, opened once for everything that uses this context, because opening a vault costs 0.3 s of
 * CPU. A failure is not kept: the next call tries again. Rejects as `openKeys` does.
 */
export function keptKeyring(context: CommandContext): Promise<Keyring> {
  const keyring = opened.get(context) ?? openKeys(context, 'look').then(onlyLookedInto);
  opened.set(context, keyring);
  keyring.catch(() => opened.delete(context));
  return keyring;
}

/** Only reads, so it never creates a vault or asks for a new passphrase. */
function onlyLookedInto(keyring: Keyring): Keyring {
  const { store } = keyring;
  if (store.kind !== 'vault') return keyring;
  const looked: KeyStore = {
    kind: store.kind,
    description: store.description,
    probe: async () => void (await store.accounts()),
    put: (account, secret) => store.put(account, secret),
    exchange: (account, secret) => store.exchange(account, secret),
    putAll: (items) => store.putAll(items),
    get: (account) => store.get(account),
    accounts: () => store.accounts(),
    remove: (account) => store.remove(account),
  };
  return { ...keyring, store: looked };
}
