import { LifeboatError } from '../../base/errors.ts';
import { Secret } from '../../base/secret.ts';
import type { CommandContext } from '../../cli/context.ts';
import { openKeys } from '../../compose/workspace.ts';
import { type LoadedConfig, tokenVariables } from '../../config/loaded.ts';
import type { Keyring } from '../../keys/key-store.ts';
import { createSigner, type Signer } from '../../store/log/signer.ts';
import type { SecretGuard } from '../../store/secret-guard.ts';

/** Who signs evidence: this installation, or a key of its own where there is no `keyring`. */
export async function signerOf(keyring: Keyring | undefined): Promise<Signer> {
  const { generateSigningKey } = await import('../../keys/keyring.ts');
  return createSigner(keyring === undefined ? generateSigningKey() : await keyring.signingKey());
}

/**
 * The keys of the installation that signs `what`. A record is worth most when its key store is lost, and a
 * drill keeps none: then undefined, and stderr says so.
 */
export async function signingKeys(context: CommandContext, what: string): Promise<Keyring | undefined> {
  try {
    return await openKeys(context, 'check');
  } catch (thrown) {
    if (!(thrown instanceof LifeboatError) || thrown.code !== 'keys.gone') throw thrown;
    context.stderr.write(`warning: ${thrown.shortMessage}: ${what} signed with a key of its own\n`);
    return undefined;
  }
}

/**
 * Tells `guard` every secret of this home that could have leaked: the keys in the store, the installation's
 * own, the tokens in the environment.
 */
export async function guardSecrets(
  guard: SecretGuard,
  { env }: Pick<CommandContext, 'env'>,
  config: LoadedConfig | undefined,
  keyring: Keyring | undefined,
): Promise<void> {
  for (const account of (await keyring?.store.accounts()) ?? []) {
    const secret = await keyring?.store.get(account);
    if (secret !== undefined) guard.add(secret);
  }
  for (const name of config === undefined ? [] : tokenVariables(config)) {
    const text = env[name];
    if (text !== undefined) guard.add(new Secret(text));
  }
}
