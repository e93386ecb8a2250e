import { LifeboatError } from '../../base/errors.ts';
import { Secret } from '../../base/secret.ts';
import type { CommandContext } from '../../cli/context.ts';
import { openKeys } from '../../compose/workspace.ts';
import type { LoadedConfig } from '../../config/loaded.ts';
import { tokenVariables } from '../../config/loaded.ts';
import type { Keyring } from '../../keys/key-store.ts';
import { generateSigningKey } from '../../keys/keyring.ts';
import { createSigner, type Signer } from '../../store/log/signer.ts';
import type { SecretGuard } from '../../store/secret-guard.ts';

/**
 * Who signs the bundles of a pack: this installation, or a key of its own where the home has no journal yet
 * or its key store is lost, as stderr then says. `guard` learns every secret that must not be in a pack.
 */
export async function signerOf(
  context: CommandContext,
  config: LoadedConfig | undefined,
  guard: SecretGuard,
  hasJournal: boolean,
): Promise<Signer> {
  for (const name of config === undefined ? [] : tokenVariables(config)) {
    const text = context.env[name];
    if (text !== undefined) guard.add(new Secret(text));
  }
  const keyring = hasJournal ? await keysOf(context) : undefined;
  for (const account of (await keyring?.store.accounts()) ?? []) {
    const secret = await keyring?.store.get(account);
    if (secret !== undefined) guard.add(secret);
  }
  return createSigner(keyring === undefined ? generateSigningKey() : await keyring.signingKey());
}

async function keysOf(context: CommandContext): Promise<Keyring | undefined> {
  try {
    return await openKeys(context, 'check');
  } catch (thrown) {
    if (!(thrown instanceof LifeboatError) || thrown.code !== 'keys.gone') throw thrown;
    context.stderr.write(`warning: ${thrown.shortMessage}: the bundles are signed with a key of their own\n`);
    return undefined;
  }
}
