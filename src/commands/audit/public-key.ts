import { createHash, createPublicKey } from 'node:crypto';
import { EXIT } from '../../base/errors.ts';
import type { CommandContext } from '../../cli/context.ts';
import { openKeys } from '../../compose/workspace.ts';

/**
 * `lifeboat audit key`: the public half of the key that signs this installation's records, for whoever is to
 * verify them: PEM to stdout, what to compare by telephone to stderr.
 */
export async function auditKeyCommand(context: CommandContext): Promise<number> {
  const { createSigner } = await import('../../store/log/signer.ts');
  const { installation, publicKey } = createSigner(await (await openKeys(context)).signingKey());
  const spki = createPublicKey(publicKey).export({ type: 'spki', format: 'der' });
  context.stdout.write(publicKey);
  context.stderr.write(`installation: ${installation}\n`);
  // `openssl pkey -pubin -outform DER | sha256sum` gives the same.
  context.stderr.write(`SHA-256 of the key: ${createHash('sha256').update(spki).digest('hex')}\n`);
  return EXIT.closed;
}
