import type { CommandContext } from '../../cli/context.ts';
import { openKeys } from '../../compose/workspace.ts';
import type { Keyring } from '../../keys/key-store.ts';

const opened = new WeakMap<CommandContext, Promise<Keyring>>();

/**
 * The key store to look into, opened once for all that looks with this context: to open a vault costs 0.3 s of
 * a processor. One that could not be opened is tried again by the next call. Rejects as `openKeys` does.
 */
export function keptKeyring(context: CommandContext): Promise<Keyring> {
  const keyring = opened.get(context) ?? openKeys(context, 'look');
  opened.set(context, keyring);
  keyring.catch(() => opened.delete(context));
  return keyring;
}
