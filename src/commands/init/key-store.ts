import type { CommandContext } from '../../cli/context.ts';
import { openKeys } from '../../compose/workspace.ts';
import type { KeyStore } from '../../keys/key-store.ts';
import { attempt, type Check, good } from '../doctor/check.ts';
import { keyringChecks } from '../doctor/keyrings.ts';
import type { Prompts } from './prompts.ts';

/** The usable key store, if any. */
export interface ChosenStore {
  readonly store: KeyStore | undefined;
  readonly check: Check;
  /** What the config must state for it. */
  readonly keyStore: 'vault' | undefined;
}

/**
 * The key store that the environment or the config asks for; else the keychain of this machine, proven by a
 * probe; else a vault file, for which a person names or types a passphrase. If none is available, says what
 * is missing: keys are never kept in plain text.
 */
export async function chooseKeyStore(
  context: CommandContext,
  prompts: Prompts | undefined,
): Promise<ChosenStore> {
  const first = await opened(context);
  if (first.store !== undefined || context.env['LIFEBOAT_KEYCHAIN']) return named(first);
  const wantsVault =
    Boolean(context.env['LIFEBOAT_PASSPHRASE_FILE']) || (await agreed(context, first.check, prompts));
  if (!wantsVault) return named(first);
  return named(await opened({ ...context, env: { ...context.env, LIFEBOAT_KEYCHAIN: 'vault' } }));
}

function named(opened: Pick<ChosenStore, 'store' | 'check'>): ChosenStore {
  return { ...opened, keyStore: opened.store?.kind === 'vault' ? 'vault' : undefined };
}

async function opened(context: CommandContext): Promise<Pick<ChosenStore, 'store' | 'check'>> {
  const found = await attempt('key store', () => openKeys(context, 'check'));
  if ('check' in found) return { store: undefined, check: { ...found.check, state: 'warn' } };
  const { store } = found.value;
  const [trouble] = await keyringChecks(context.env, store);
  if (trouble !== undefined) return { store, check: { ...trouble, state: 'warn' } };
  return { store, check: good('key store', `${store.description}: written, read and removed a probe`) };
}

async function agreed(
  { stderr }: CommandContext,
  { found }: Check,
  prompts: Prompts | undefined,
): Promise<boolean> {
  if (prompts === undefined) return false;
  stderr.write(`the keychain of this machine cannot be used: ${found}\n`);
  return prompts.one('Where are keys kept?', [
    { value: true, name: 'in a vault file, under a passphrase' },
    { value: false, name: 'nowhere yet: set it up later' },
  ]);
}
