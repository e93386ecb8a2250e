import { createHash } from 'node:crypto';
import { closeSync, openSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { isPlainFile, namesIn, readPlainFile, whyUnread } from '../../base/bounded-file.ts';
import { EXIT, LifeboatError } from '../../base/errors.ts';
import { BUNDLE_FILE, KEY_FILE, PAE_FILE, SIGNATURE_FILE } from '../../base/receipt-files.ts';
import { show } from '../../base/text.ts';
import type { ReceiptFolder } from '../../receipts/check-receipts.ts';

/** Bytes: many times what any of them has. */
const LARGEST = 8 * 1024 * 1024;
const FILES = [BUNDLE_FILE, PAE_FILE, SIGNATURE_FILE, KEY_FILE];

/**
 * The folder itself, each folder in it, or their folder `receipt` as in an evidence pack. Throws
 * `input.receipts` (exit 2) without any, `input.file` for an unreadable file.
 */
export function receiptFolders(path: string): readonly ReceiptFolder[] {
  const isReceipt = (folder: string) => FILES.some((name) => isPlainFile(join(folder, name)) === true);
  const all = isReceipt(path)
    ? [path]
    : namesIn(path)
        .flatMap((name) => [join(path, name), join(path, name, 'receipt')])
        .filter(isReceipt);
  if (all.length > 0) return all.map(folderAt);
  throw new LifeboatError('input.receipts', `${show(path, 200)} holds no receipts`, {
    hints: [
      'name the folder that `lifeboat receipt` wrote, or one that holds such folders',
      'nothing was verified',
    ],
    exitCode: EXIT.usage,
  });
}

function folderAt(path: string): ReceiptFolder {
  const read = <T>(name: string, reader: (file: string) => T): T | undefined => {
    const file = join(path, name);
    if (isPlainFile(file) !== true) return undefined;
    try {
      return reader(file);
    } catch (cause) {
      throw new LifeboatError('input.file', `${show(file, 300)} cannot be read: ${whyUnread(cause)}`, {
        hints: ['nothing was verified'],
        exitCode: EXIT.usage,
        cause,
      });
    }
  };
  return {
    path,
    file: (name) => read(name, (file) => readPlainFile(file, LARGEST)),
    digest: (name) => read(name, digestOf),
  };
}

const CHUNK = 1024 * 1024;

/** In parts: a backup beside a receipt may be larger than the memory. */
function digestOf(path: string): string {
  const digest = createHash('sha256');
  const chunk = Buffer.allocUnsafe(CHUNK);
  const file = openSync(path, 'r');
  try {
    for (let size = -1; size !== 0; digest.update(chunk.subarray(0, size)))
      size = readSync(file, chunk, 0, CHUNK, null);
    return digest.digest('hex');
  } finally {
    closeSync(file);
  }
}
