import { createHash, createPublicKey } from 'node:crypto';
import { EXIT } from '../../base/errors.ts';
import type { CommandContext } from '../../cli/context.ts';
import { printResult } from '../../cli/print-result.ts';
import { openKeys } from '../../compose/workspace.ts';

/**
 * `lifeboat audit key`: the public half of the key that signs this installation's records, for whoever is to
 * verify them: PEM to stdout, what to compare by telephone to stderr.
 */
export async function auditKeyCommand(context: CommandContext): Promise<number> {
  const { createSigner } = await import('../../store/log/signer.ts');
  const { installation, publicKey } = createSigner(await (await openKeys(context)).signingKey());
  const spki = createPublicKey(publicKey).export({ type: 'spki', format: 'der' });
  // `openssl pkey -pubin -outform DER | sha256sum` gives the same.
  const sha256 = createHash('sha256').update(spki).digest('hex');
  await printResult(context, 'audit-key', { installation, publicKey, sha256 }, () => {
    context.stdout.write(publicKey);
    context.stderr.write(`installation: ${installation}\nSHA-256 of the key: ${sha256}\n`);
  });
  return EXIT.closed;
}
