import { hash } from 'node:crypto';
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { failureOf } from '../base/errors.ts';
import {
  BUNDLE_FILE,
  cosignLines,
  KEY_FILE,
  opensslLines,
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

export interface ToSign {
  readonly statement: Stated;
  /** The file beside the receipt. */
  readonly file: string;
  readonly text: string;
  /** What the log says of the receipt. */
  made(hashes: Pick<MadeReceipt, 'sha256' | 'key'>): MadeReceipt;
}

/** A receipt that is on record: the files of its folder, and the SHA-256 of the one that is signed. */
export interface RecordedReceipt {
  readonly sha256: string;
  readonly files: ReadonlyMap<string, Buffer | string>;
}

export interface ReceiptSigner {
  /**
   * Signs a statement, and puts its hash on record before anybody has the receipt: if the process dies
   * between, the log names one that nobody has. `toSign` is given the installation that signs.
   */
  sign(toSign: (installation: string) => ToSign): Promise<RecordedReceipt>;
  /** Seals what was put on record. */
  close(): Promise<void>;
}

/** Opens the installation that signs, and its key for receipts. Rejects as `openWorkspace` does. */
export async function openReceiptSigner(context: CommandContext): Promise<ReceiptSigner> {
  const workspace = await openWorkspace(context, await ownSetting(context));
  const { journal, keyring, signer } = workspace;
  const { key, publicKey } = await keyOf(keyring).catch(async (thrown: unknown) => {
    await workspace.close();
    throw thrown;
  });
  let isNamed = false;
  const name = async () => {
    // The first append names a new log, and the note is bound to that name.
    const origin = await journal.log.origin();
    if (origin === undefined) return;
    if (!isKeyNamed(await journal.read(LOG_STREAM), publicKey))
      await journal.append([keyEntry(publicKey, origin, signer)], []);
    isNamed = true;
  };
  return {
    async sign(toSign) {
      const { statement, file, text, made } = toSign(signer.installation);
      const signed = signStatement(statement, key);
      assertReadable(signed, publicKey);
      const sha256 = hash('sha256', signed.bundle);
      await journal.append([receiptEntry(made({ sha256, key: keyHash(publicKey) }))], []);
      if (!isNamed) await name();
      const files = new Map<string, Buffer | string>([
        [file, text],
        [BUNDLE_FILE, signed.bundle],
        [PAE_FILE, signed.pae],
        [SIGNATURE_FILE, signed.signature],
        [KEY_FILE, publicKey],
      ]);
      return { sha256, files };
    },
    close: () => workspace.close(),
  };
}

async function keyOf(keyring: Workspace['keyring']) {
  const key = await keyring.receiptKey();
  return { key, publicKey: receiptPublicKey(key) };
}

/**
 * Signs a statement and writes it into a new folder, with its file and the public key; returns the SHA-256 of
 * the receipt. Never overwrites anything (`usage.out`).
 */
export async function writeReceipt(
  context: CommandContext,
  out: string,
  toSign: (installation: string) => ToSign,
): Promise<string> {
  if (existsSync(out)) throw isTaken(out, ELSEWHERE);
  const signer = await openReceiptSigner(context);
  try {
    const { sha256, files } = await signer.sign(toSign);
    write(out, files);
    return sha256;
  } finally {
    await signer.close();
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

/** The log must not name a receipt that a stranger could not check. */
function assertReadable({ bundle }: SignedReceipt, publicKey: string): void {
  const { outcome } = openReceipt(bundle, publicKey);
  if (outcome !== 'signed') throw new Error(`a receipt that was just signed is ${outcome}`);
}

const ELSEWHERE = 'name another folder with --out DIR';

function write(out: string, files: RecordedReceipt['files']): void {
  try {
    mkdirSync(out, { mode: 0o700 });
    for (const [name, content] of files) writeNewFile(join(out, name), content);
  } catch (cause) {
    throw notWritten(out, cause, ELSEWHERE);
  }
}

/** To run in the folder without this program; the key is compared over another channel. */
export function commandsFor(out: string, type: string, file: string): string {
  return `to check it in ${show(out, 300)}, with the key of \`lifeboat audit key --receipts\`:
  ${opensslLines(file).join('\n  ')}
or both at once, with cosign 3.0.4 or later:
  ${cosignLines(type, file).join('\n  ')}
`;
}
