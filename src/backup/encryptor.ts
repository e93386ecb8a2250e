import { createCipheriv, randomBytes } from 'node:crypto';
import { Transform } from 'node:stream';
import type { Secret } from '../base/secret.ts';
import type { KeyProfile } from './backup-file.ts';
import { SALTED } from './beginning.ts';
import { deriveKey } from './derive-key.ts';

export interface EncryptorOptions {
  readonly key: Secret;
  readonly profile: KeyProfile;
  /** 8 bytes; random by default, set only in tests. */
  readonly salt?: Uint8Array;
}

const SALT_BYTES = 8;

/** Gzip bytes to a backup that `openssl enc -d -aes-256-cbc` reads (PKCS#7). Memory is constant. */
export function encryptor({ key, profile, salt = randomBytes(SALT_BYTES) }: EncryptorOptions): Transform {
  if (salt.length !== SALT_BYTES) throw new RangeError(`the salt is ${SALT_BYTES} bytes`);
  const derived = deriveKey(key, salt, profile);
  const cipher = createCipheriv('aes-256-cbc', derived.key, derived.iv);
  let header: Buffer | undefined = Buffer.concat([SALTED, salt]);
  return new Transform({
    construct(done) {
      this.push(header);
      header = undefined;
      done();
    },
    transform(chunk, _encoding, done) {
      done(null, cipher.update(chunk));
    },
    flush(done) {
      done(null, cipher.final());
    },
  });
}
