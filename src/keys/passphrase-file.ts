import { LifeboatError } from '../base/errors.ts';
import { Secret } from '../base/secret.ts';
import { show } from '../base/text.ts';
import { readPrivateFile } from './private-file.ts';

const PASSPHRASE_FILE = { name: 'passphrase file', mayBeLinkOrPipe: true };

/**
 * The first line of a file, without its line end: what LIFEBOAT_PASSPHRASE_FILE names. A link and a pipe
 * (`/dev/fd/3`) will do. Rejects with `keys.permissions` when others can open the file, `keys.no-passphrase`
 * when it is missing, `keys.empty-passphrase`, and `keys.unstorable` when it is not UTF-8 (the age tool could
 * not be given it either).
 */
export async function readPassphraseFile(path: string): Promise<Secret> {
  const bytes = await readPrivateFile(path, PASSPHRASE_FILE);
  if (bytes === undefined) {
    throw new LifeboatError('keys.no-passphrase', `there is no passphrase file ${show(path)}`, {
      hints: ['set LIFEBOAT_PASSPHRASE_FILE to a file that only you can read, or unset it to be asked'],
    });
  }
  const passphrase = firstLine(bytes, path);
  if (passphrase !== '') return new Secret(passphrase);
  throw new LifeboatError('keys.empty-passphrase', `the first line of ${show(path)} is empty`, {
    hints: ['put the passphrase of the vault on the first line'],
  });
}

function firstLine(bytes: Buffer, path: string): string {
  const end = bytes.indexOf('\n');
  const line = end < 0 ? bytes : bytes.subarray(0, end);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(line).replace(/\r$/, '');
  } catch {
    throw new LifeboatError('keys.unstorable', `the first line of ${show(path)} is not UTF-8 text`, {
      hints: ['save the file as UTF-8'],
    });
  }
}
