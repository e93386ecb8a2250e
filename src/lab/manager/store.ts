import { createDecipheriv, createHash, type Decipheriv } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, open, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { addAbortSignal, Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
import { encryptor } from '../../backup/encryptor.ts';
import type { Secret } from '../../base/secret.ts';

export interface Stored {
  /** Bytes of the encrypted file. */
  readonly size: number;
  /** SHA-256 of the encrypted file, lower-case hex. */
  readonly sha256: string;
}

export interface BackupStore {
  /** Compresses, encrypts and stores a tar; a part of one never gets its name. */
  write(backupId: string, content: Readable, key: Secret, signal: AbortSignal): Promise<Stored>;
  /** Keeps the facts of a backup beside it. */
  describe(backupId: string, facts: Readonly<Record<string, string | number | null>>): Promise<void>;
  /** The encrypted bytes from `start` up to before `end`. */
  read(backupId: string, start: number, end: number): Readable;
  /** Removes a backup and its facts, if they exist. */
  remove(backupId: string): Promise<void>;
}

/** Backups as files: `<backup_id>.tgz.enc`, and beside each what is known about it. */
export class FolderStore implements BackupStore {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** In one pass: no plaintext is written to disk. The file gets its name once it is complete. */
  async write(backupId: string, content: Readable, key: Secret, signal: AbortSignal): Promise<Stored> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    const partial = `${this.#path(backupId)}.part`;
    const hash = createHash('sha256');
    let size = 0;
    try {
      await pipeline(
        content,
        createGzip({ level: 1, chunkSize: CHUNK }),
        encryptor({ key, profile: 'md5' }),
        async (encrypted: AsyncIterable<Buffer>) => {
          await using file = await open(partial, 'wx', 0o600);
          for await (const bytes of encrypted) {
            hash.update(bytes);
            size += bytes.length;
            await file.writeFile(bytes);
          }
        },
        { signal },
      );
      await rename(partial, this.#path(backupId));
      return { size, sha256: hash.digest('hex') };
    } catch (error) {
      await rm(partial, { force: true });
      throw error;
    }
  }

  async describe(backupId: string, facts: Readonly<Record<string, string | number | null>>): Promise<void> {
    const text = `${JSON.stringify(facts, null, 2)}\n`;
    await writeFile(join(this.#folder, `${backupId}.json`), text, { mode: 0o600 });
  }

  read(backupId: string, start: number, end: number): Readable {
    if (start >= end) return Readable.from([]);
    return createReadStream(this.#path(backupId), { start, end: end - 1, highWaterMark: CHUNK });
  }

  async remove(backupId: string): Promise<void> {
    await rm(this.#path(backupId), { force: true });
    await rm(join(this.#folder, `${backupId}.json`), { force: true });
  }

  #path(backupId: string): string {
    return join(this.#folder, `${backupId}.tgz.enc`);
  }
}

/** Larger than the default of 16 KiB, for fewer turns of the event loop. */
const CHUNK = 256 * 1024;

/** A stored backup's tar. Do not use a part: a wrong key or damage may show only as an error at its end. */
export function openBackup(encrypted: Readable, key: Secret, signal: AbortSignal): Readable {
  const content = createGunzip({ chunkSize: CHUNK });
  // The error reaches the reader through `content`, which `pipeline` destroys with it.
  pipeline(addAbortSignal(signal, encrypted), decryptor(key), content).catch(() => undefined);
  return content;
}

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

/** EVP_BytesToKey with MD5, one round (openssl-enc(1)): each hash is of the one before, key and salt. */
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
