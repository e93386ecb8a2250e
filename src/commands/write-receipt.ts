import { hash } from 'node:crypto';
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { failureOf } from '../base/errors.ts';
import {
  BUNDLE_FILE,
  cosignLines,
  KEY_FILE,
  OPENSSL,
  PAE_FILE,
  SIGNATURE_FILE,
} from '../base/receipt-files.ts';
import { show } from '../base/text.ts';
import type { CommandContext } from '../cli/context.ts';
import { isTaken, notWritten, writeNewFile } from '../cli/write-new-file.ts';
import { openWorkspace, type Workspace, workspaceFor } from '../compose/workspace.ts';
import { loadConfig } from '../config/load.ts';
import { isKeyNamed, keyEntry, keyHash, type MadeReceipt, receiptEntry } from '../receipts/log-entries.ts';
import {
  openReceipt,
  receiptPublicKey,
  type SignedReceipt,
  type Stated,
  signStatement,
} from '../receipts/sigstore-bundle.ts';
import { LOG_STREAM } from '../store/journal.ts';

/** What is to be signed, and what it is about. */
export interface ToSign {
  readonly statement: Stated;
  /** The file beside the receipt. */
  readonly file: string;
  readonly text: string;
  /** What the log says of the receipt. */
  made(hashes: Pick<MadeReceipt, 'sha256' | 'key'>): MadeReceipt;
}

/**
 * Signs a statement and writes it into a new folder, with its file and the public key; returns the SHA-256 of
 * the receipt. `toSign` is given the installation that signs. Its hash is an entry before the folder is
 * written: if the process dies between, the log names a receipt that nobody has. Never overwrites anything
 * (`usage.out`).
 */
export async function writeReceipt(
  context: CommandContext,
  out: string,
  toSign: (installation: string) => ToSign,
): Promise<string> {
  if (existsSync(out)) throw isTaken(out);
  const workspace = await openWorkspace(context, await ownSetting(context));
  try {
    const key = await workspace.keyring.receiptKey();
    const publicKey = receiptPublicKey(key);
    const { statement, file, text, made } = toSign(workspace.signer.installation);
    const signed = signStatement(statement, key);
    assertReadable(signed, publicKey);
    const sha256 = hash('sha256', signed.bundle);
    await record(workspace, made({ sha256, key: keyHash(publicKey) }), publicKey);
    write(out, { ...signed, file, text, publicKey });
    return sha256;
  } finally {
    await workspace.close();
  }
}

/** After a drill on a machine without a config, its login name is the author of the entry. */
async function ownSetting(context: CommandContext) {
  try {
    return workspaceFor(await loadConfig(context.env, context.configPath));
  } catch (thrown) {
    if (failureOf(thrown).code === 'config.missing') return {};
    throw thrown;
  }
}

/** What a stranger could not check must not get a name in the log. */
function assertReadable({ bundle }: SignedReceipt, publicKey: string): void {
  const { outcome } = openReceipt(bundle, publicKey);
  if (outcome !== 'signed') throw new Error(`a receipt that was just signed is ${outcome}`);
}

async function record({ journal, signer }: Workspace, made: MadeReceipt, publicKey: string): Promise<void> {
  await journal.append([receiptEntry(made)], []);
  // The first append names a new log, and the note is bound to that name.
  const origin = await journal.log.origin();
  if (origin === undefined || isKeyNamed(await journal.read(LOG_STREAM), publicKey)) return;
  await journal.append([keyEntry(publicKey, origin, signer)], []);
}

function write(
  out: string,
  {
    bundle,
    pae,
    signature,
    file,
    text,
    publicKey,
  }: SignedReceipt & Pick<ToSign, 'file' | 'text'> & { readonly publicKey: string },
): void {
  try {
    mkdirSync(out, { mode: 0o700 });
    writeNewFile(join(out, file), text);
    writeNewFile(join(out, BUNDLE_FILE), bundle);
    writeNewFile(join(out, PAE_FILE), pae);
    writeNewFile(join(out, SIGNATURE_FILE), signature);
    writeNewFile(join(out, KEY_FILE), publicKey);
  } catch (cause) {
    throw notWritten(out, cause, 'name another place with --out DIR');
  }
}

/** What a person without this program runs, in the folder; they compare the key over another channel. */
export function commandsFor(out: string, type: string, file: string): string {
  return `to check it in ${show(out, 300)}, with the key of \`lifeboat audit key --receipts\`:
  ${OPENSSL}
  grep -F "$(openssl dgst -sha256 -r ${file} | cut -c1-64)" ${PAE_FILE}
or both at once, with cosign 3.0.4 or later:
  ${cosignLines(type, file).join('\n  ')}
`;
}
