import type { CommandContext } from '../../cli/context.ts';
import { homeFolder } from '../../config/find.ts';

/**
 * The public half of the signing key in the key store of this home, where that opens without asking anybody;
 * undefined otherwise. Makes nothing: an audit of a home without a key store leaves it so.
 */
export async function storedKey({ env }: Pick<CommandContext, 'env'>): Promise<string | undefined> {
  const { missingVault } = await import('../../compose/keys-gone.ts');
  const home = homeFolder(env);
  if (missingVault(env, home) !== undefined) return undefined;
  try {
    const { chooseStore } = await import('../../keys/choose-store.ts');
    const { openKeyring, rootsIn } = await import('../../keys/keyring.ts');
    const { createSigner } = await import('../../store/log/signer.ts');
    const store = await chooseStore({ env, home, toRead: true });
    if (!(await rootsIn(store)).signingKey) return undefined;
    return createSigner(await openKeyring(store).signingKey()).publicKey;
  } catch {
    // A store that is locked, or is nowhere, is no finding about a journal: the verdict says which key it
    // rests on.
    return undefined;
  }
}
