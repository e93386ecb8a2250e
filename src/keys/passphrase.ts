import { createCipheriv, createDecipheriv, randomBytes, type ScryptOptions, scrypt } from 'node:crypto';
import { type Identity, type Recipient, Stanza } from 'age-encryption';
import type { Secret } from '../base/secret.ts';

/*
 * The scrypt recipient of age (age-encryption.org/v1, section "The scrypt recipient type") on Node's own
 * scrypt: twice as fast as the library's JavaScript, and on another thread.
 *
 *     -> scrypt <base64 salt> <log2 N>
 *     <the file key: ChaCha20-Poly1305 with a nonce of zeros,
 *      under scrypt(passphrase, label and salt, N, r = 8, p = 1)>
 */

const LABEL = 'age-encryption.org/v1/scrypt';
/** When opening, as in the library: 1 GiB, and some seconds. */
const MAX_WORK = 20;
const CIPHER = 'chacha20-poly1305';
const NONCE = Buffer.alloc(12);
const [KEY, TAG] = [16, 16];

/** `workFactor` is log2 N. */
export function passphraseRecipient(passphrase: Secret, workFactor: number): Recipient {
  return {
    async wrapFileKey(fileKey) {
      const salt = randomBytes(16);
      const key = await derive(passphrase, salt, workFactor);
      const cipher = createCipheriv(CIPHER, key, NONCE, { authTagLength: TAG });
      const body = Buffer.concat([cipher.update(fileKey), cipher.final(), cipher.getAuthTag()]);
      return [new Stanza(['scrypt', base64(salt), String(workFactor)], body)];
    },
  };
}

/** Null for a wrong passphrase; rejects for another header. */
export function passphraseIdentity(passphrase: Secret): Identity {
  return {
    async unwrapFileKey(stanzas) {
      const [stanza] = stanzas;
      const [type, text = '', work = ''] = stanza?.args ?? [];
      const salt = Buffer.from(text, 'base64');
      const isSound =
        type === 'scrypt' &&
        stanzas.length === 1 &&
        stanza?.args.length === 3 &&
        salt.length === 16 &&
        base64(salt) === text &&
        /^[1-9][0-9]?$/u.test(work) &&
        stanza.body.length === KEY + TAG;
      if (!isSound) throw new Error('invalid scrypt stanza');
      if (Number(work) > MAX_WORK) throw new Error('scrypt work factor is too high');
      const key = await derive(passphrase, salt, Number(work));
      const cipher = createDecipheriv(CIPHER, key, NONCE, { authTagLength: TAG });
      cipher.setAuthTag(stanza.body.subarray(KEY));
      try {
        return Buffer.concat([cipher.update(stanza.body.subarray(0, KEY)), cipher.final()]);
      } catch {
        return null;
      }
    },
  };
}

function derive(passphrase: Secret, salt: Buffer, work: number): Promise<Buffer> {
  const [N, r] = [2 ** work, 8];
  // scrypt needs 128 * N * r bytes (RFC 7914), plus some for its blocks.
  const options: ScryptOptions = { N, r, p: 1, maxmem: 128 * N * r + 2 ** 20 };
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  scrypt(passphrase.reveal(), Buffer.concat([Buffer.from(LABEL), salt]), 32, options, (error, key) =>
    error === null ? resolve(key) : reject(error),
  );
  return promise;
}

/** Without padding, as age writes it. */
function base64(bytes: Buffer): string {
  return bytes.toString('base64').replace(/=+$/u, '');
}
