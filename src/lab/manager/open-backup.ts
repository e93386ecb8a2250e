import { createDecipheriv, createHash, type Decipheriv } from 'node:crypto';
import { addAbortSignal, pipeline, type Readable, Transform } from 'node:stream';
import { createGunzip } from 'node:zlib';
import type { Secret } from '../../base/secret.ts';

/**
 * The tar inside a stored backup: what a restore of the service reads. A wrong key or a damaged file ends the
 * stream with an error, at the latest where the content ends; whoever reads it must not believe a part.
 */
export function openBackup(encrypted: Readable, key: Secret, signal: AbortSignal): Readable {
  const content = createGunzip({ chunkSize: CHUNK });
  // The error reaches the reader through `content`, which `pipeline` destroys with it.
  pipeline(addAbortSignal(signal, encrypted), decryptor(key), content, () => undefined);
  return content;
}

const CHUNK = 256 * 1024;
/** `Salted__` and 8 bytes of salt, as `openssl enc` writes them. */
const HEADER = 16;
const KEY_BYTES = 32;
const IV_BYTES = 16;

function decryptor(key: Secret): Transform {
  let header: Buffer = Buffer.alloc(0);
  let cipher: Decipheriv | undefined;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      if (cipher !== undefined) return done(null, cipher.update(chunk));
      header = Buffer.concat([header, chunk]);
      if (header.length < HEADER) return done();
      if (header.subarray(0, 8).toString('latin1') !== 'Salted__')
        return done(new Error('it is not encrypted'));
      cipher = decipherOf(key, header.subarray(8, HEADER));
      return done(null, cipher.update(header.subarray(HEADER)));
    },
    flush(done) {
      if (cipher === undefined) return done(new Error('it ends in its header'));
      try {
        done(null, cipher.final());
      } catch (error) {
        done(error as Error);
      }
    },
  });
}

/**
 * EVP_BytesToKey with MD5 and one round (openssl-enc(1), `-md md5`): each hash is of the one before, key and
 * salt.
 */
function decipherOf(key: Secret, salt: Buffer): Decipheriv {
  let derived = Buffer.alloc(0);
  let last = Buffer.alloc(0);
  while (derived.length < KEY_BYTES + IV_BYTES) {
    last = createHash('md5').update(last).update(key.reveal()).update(salt).digest();
    derived = Buffer.concat([derived, last]);
  }
  return createDecipheriv(
    'aes-256-cbc',
    derived.subarray(0, KEY_BYTES),
    derived.subarray(KEY_BYTES, KEY_BYTES + IV_BYTES),
  );
}
