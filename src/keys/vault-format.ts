import canonicalize from 'canonicalize';
import * as z from 'zod';
import { LifeboatError } from '../base/errors.ts';
import { Secret } from '../base/secret.ts';
import { show } from '../base/text.ts';

/**
 * scrypt with N = 2^17, r = 8: about 0.3 s and 128 MiB for each open and write on a laptop core. The age
 * tool's default is 2^18; it opens up to 2^22, the library up to 2^20.
 */
export const WORK_FACTOR = 17;

/** The start of every age file with a passphrase (age-encryption.org/v1, scrypt recipient stanza). */
const HEADER = 'age-encryption.org/v1\n-> scrypt ';
const WRONG_PASSPHRASE = "no identity matched any of the file's recipients";

const Contents = z.strictObject({ version: z.literal(1), items: z.record(z.string(), z.string()) });

/**
 * A binary age v1 file, encrypted to a passphrase, with the canonical JSON (RFC 8785) `{"items":{account:
 * secret},"version":1}`. `age --decrypt vault.age` opens it without Lifeboat.
 */
export async function sealItems(
  items: ReadonlyMap<string, Secret>,
  passphrase: Secret,
  workFactor: number,
): Promise<Buffer> {
  const plain = [...items].map(([account, secret]) => [account, secret.reveal()] as const);
  const text = canonicalize({ version: 1, items: Object.fromEntries(plain) });
  if (text === undefined) throw new TypeError('a vault is always an object');
  const [{ Encrypter }, { passphraseRecipient }] = await age();
  const encrypter = new Encrypter();
  encrypter.addRecipient(passphraseRecipient(passphrase, workFactor));
  return Buffer.from(await encrypter.encrypt(text));
}

/** Rejects with `keys.wrong-passphrase` or `keys.damaged`, naming `path`. */
export async function openItems(
  bytes: Buffer,
  passphrase: Secret,
  path: string,
): Promise<Map<string, Secret>> {
  if (bytes.toString('latin1', 0, HEADER.length) !== HEADER) {
    throw damaged(path, 'it does not begin like an age file for a passphrase');
  }
  const { items } = parse(await decrypt(bytes, passphrase, path), path);
  return new Map(Object.entries(items).map(([account, text]) => [account, new Secret(text)]));
}

/** Loaded only for a vault. */
function age() {
  return Promise.all([import('age-encryption'), import('./passphrase.ts')]);
}

async function decrypt(bytes: Buffer, passphrase: Secret, path: string): Promise<string> {
  const [{ Decrypter }, { passphraseIdentity }] = await age();
  const decrypter = new Decrypter();
  decrypter.addIdentity(passphraseIdentity(passphrase));
  try {
    return await decrypter.decrypt(bytes, 'text');
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : String(cause);
    if (message !== WRONG_PASSPHRASE) throw damaged(path, show(message, 80), cause);
    throw new LifeboatError(
      'keys.wrong-passphrase',
      `the passphrase does not open the vault file ${show(path)}`,
      {
        hints: [
          'nothing was changed: give the passphrase again',
          'a vault file damaged in its first 100 bytes looks the same: try a copy of the file if you are sure',
        ],
      },
    );
  }
}

function parse(text: string, path: string): z.infer<typeof Contents> {
  try {
    const found: unknown = JSON.parse(text);
    const { version = 0 } = z.object({ version: z.int() }).safeParse(found).data ?? {};
    if (version > 1) throw newer(path, version);
    return Contents.parse(found);
  } catch (thrown) {
    if (thrown instanceof LifeboatError) throw thrown;
    // The cause would quote the text, which is secret.
    throw damaged(path, 'it opens, but what it holds is not a vault file of version 1');
  }
}

function newer(path: string, version: number): LifeboatError {
  return new LifeboatError('keys.newer', `the vault file ${show(path)} is of version ${version}`, {
    hints: ['nothing was changed', 'use the newer lifeboat that wrote it: this one reads version 1'],
  });
}

function damaged(path: string, what: string, cause?: unknown): LifeboatError {
  return new LifeboatError('keys.damaged', `the vault file ${show(path)} cannot be read: ${what}`, {
    hints: [
      'nothing was changed, and nothing is written to a vault file that cannot be read',
      'put a copy of the file in its place; `age --decrypt` tells whether a copy is whole',
    ],
    cause,
  });
}
