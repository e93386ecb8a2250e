import { createHash, createPublicKey } from 'node:crypto';
import { EXIT, LifeboatError } from '../../base/errors.ts';
import type { CommandContext } from '../../cli/context.ts';
import { printResult } from '../../cli/print-result.ts';
import { openReaderOf } from '../../compose/store-of.ts';
import { openKeys } from '../../compose/workspace.ts';
import type { Keyring } from '../../keys/key-store.ts';
import { anchorOfHead } from '../../store/log/anchor.ts';
import { whereRunIs } from '../drill/drill-homes.ts';

/**
 * `lifeboat audit anchor [RUN]`: prints the head of the store as one line for the ticket; it pins every run
 * and ledger. RUN finds the store of a drill.
 */
export async function auditAnchorCommand(
  context: CommandContext,
  [word]: readonly string[],
): Promise<number> {
  const reader = await openReaderOf(await whereRunIs(context, word));
  try {
    const anchor = await anchorOfHead(reader.log);
    if (anchor === undefined)
      throw new LifeboatError('audit.none', 'nothing is on record here', { exitCode: EXIT.usage });
    await printResult(context, 'anchor', { anchor }, () => {
      context.stdout.write(`${anchor}\n`);
    });
    return EXIT.closed;
  } finally {
    await reader.close();
  }
}

/**
 * `lifeboat audit key`: the public key of this installation's records, for verifiers: PEM to stdout, the
 * fingerprint for a telephone to stderr. With `--receipts`, that of its receipts. Makes either if missing.
 */
export async function auditKeyCommand(
  context: CommandContext,
  _words: readonly string[],
  { receipts }: { readonly receipts?: boolean },
): Promise<number> {
  const { createSigner } = await import('../../store/log/signer.ts');
  const keyring = await openKeys(context);
  const signer = createSigner(await keyring.signingKey());
  const { installation } = signer;
  const publicKey = receipts === true ? await publicReceiptKey(keyring) : signer.publicKey;
  const spki = createPublicKey(publicKey).export({ type: 'spki', format: 'der' });
  // `openssl pkey -pubin -outform DER | sha256sum` gives the same.
  const sha256 = createHash('sha256').update(spki).digest('hex');
  await printResult(context, 'audit-key', { installation, publicKey, sha256 }, () => {
    context.stdout.write(publicKey);
    context.stderr.write(`installation: ${installation}\nSHA-256 of the key: ${sha256}\n`);
  });
  return EXIT.closed;
}

async function publicReceiptKey(keyring: Keyring): Promise<string> {
  const { receiptPublicKey } = await import('../../receipts/sigstore-bundle.ts');
  return receiptPublicKey(await keyring.receiptKey());
}
