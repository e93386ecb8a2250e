import { show } from '../../base/text.ts';
import type { CommandContext } from '../../cli/context.ts';
import { openKeys } from '../../compose/workspace.ts';
import type { LoadedConfig } from '../../config/loaded.ts';
import { type Keyring, RESERVED_ACCOUNT_PREFIX } from '../../keys/key-store.ts';
import type { KeyRow, KeysFacts } from '../../view/app/sources.ts';
import { listKeys } from '../keys/key-rows.ts';

/**
 * The keys of every instance of the config, and those that the key store has for instances beside it. Nobody
 * is asked for the passphrase again once the key store is open.
 */
export async function loadKeys(context: CommandContext, config: LoadedConfig): Promise<KeysFacts> {
  const keyring = await keptKeyring(context);
  const configured = Object.keys(config.instances);
  const owners = new Set([...configured, ...(await ownersIn(keyring))]);
  const { items, ledgers, unread } = await listKeys(context, keyring, [...owners]);
  return {
    store: keyring.store.description,
    ...(unread === undefined ? {} : { unread: show(unread.shortMessage) }),
    rows: items.map(
      ({ held, ...key }): KeyRow => ({
        ...key,
        isHeld: held,
        provenBackups: (ledgers.get(key.instance)?.proven ?? []).filter(
          ({ fingerprint }) => fingerprint === key.fingerprint,
        ).length,
        isConfigured: configured.includes(key.instance),
      }),
    ),
  };
}

/** The instances that the key store has keys of. */
async function ownersIn({ store }: Keyring): Promise<readonly string[]> {
  const accounts = (await store.accounts()).filter((account) => !account.startsWith(RESERVED_ACCOUNT_PREFIX));
  return accounts
    .map((account) => account.slice(0, account.lastIndexOf('/')))
    .filter((owner) => owner !== '');
}

/** The key store that is open for this context, or being opened; undefined where somebody has to begin. */
export function openedKeyring(context: CommandContext): Promise<Keyring> | undefined {
  return opened.get(context);
}

const opened = new WeakMap<CommandContext, Promise<Keyring>>();

/**
 * The key store to look into, opened once for all that looks with this context: to open a vault costs 0.3 s
 * of a processor. One that could not be opened is tried again by the next call. Rejects as `openKeys` does.
 */
export function keptKeyring(context: CommandContext): Promise<Keyring> {
  const keyring = opened.get(context) ?? openKeys(context, 'look');
  opened.set(context, keyring);
  keyring.catch(() => opened.delete(context));
  return keyring;
}
