import { createDecipheriv, type Decipheriv } from 'node:crypto';
import type { Secret } from '../base/secret.ts';
import { backupProblem, type KeyProfile } from './backup-file.ts';
import { BLOCK_BYTES, HEADER_BYTES, PROBE_BYTES, SALTED } from './beginning.ts';
import { ByteReader } from './byte-reader.ts';
import { deriveKey } from './derive-key.ts';
import { probe } from './probe.ts';

export interface CipherEnd {
  /** Length of the removed padding, 1 to 16; 0 if the last block has no valid padding. */
  readonly padding: number;
  /** Bytes after the last whole block. */
  readonly strayBytes: number;
}

interface Decrypted {
  readonly profile: KeyProfile;
  readonly plain: AsyncGenerator<Uint8Array, CipherEnd>;
}

/**
 * Probes the head of a backup and returns its decrypted bytes. Rejects with `backup.wrong-key`,
 * `backup.not-a-backup` or `backup.truncated` after one chunk. A bad end is no error: a last block without
 * valid padding passes, and `CipherEnd` says so, since only the gzip reader can tell truncated from damaged.
 * A chunk is used up before the next is requested, so the source may reuse one buffer.
 */
export async function decrypt(
  chunks: AsyncIterable<Uint8Array>,
  { key: passphrase }: { readonly key: Secret },
): Promise<Decrypted> {
  const reader = new ByteReader(chunks[Symbol.asyncIterator]());
  try {
    const head = await reader.peek(PROBE_BYTES);
    const profile = fittingProfile(head, passphrase);
    const { key, iv } = deriveKey(passphrase, head.subarray(SALTED.length, HEADER_BYTES), profile);
    await reader.take(HEADER_BYTES);
    const decipher = createDecipheriv('aes-256-cbc', key, iv).setAutoPadding(false);
    return { profile, plain: plainChunks(reader, decipher) };
  } catch (error) {
    await reader.close();
    throw error;
  }
}

function fittingProfile(head: Uint8Array, key: Secret): KeyProfile {
  const found = probe(head, key);
  if (found.result === 'fits') return found.profile;
  if (found.result === 'not-a-backup') {
    const like = found.looksLike === 'unknown' ? '' : `, the file looks like ${found.looksLike}`;
    const message =
      found.looksLike === 'empty' ? 'the file is empty' : `there is no Salted__ header at byte 0${like}`;
    throw backupProblem('not-a-backup', message);
  }
  throw backupProblem('wrong-key', 'the key does not open the first block, at byte 16');
}

async function* plainChunks(reader: ByteReader, decipher: Decipheriv): AsyncGenerator<Uint8Array, CipherEnd> {
  try {
    // One chunk is held back, since only the end of the input shows which block is the last.
    let held: Buffer = Buffer.alloc(0);
    for (let chunk = await reader.read(); chunk !== undefined; chunk = await reader.read()) {
      const plain = decipher.update(chunk);
      if (plain.length === 0) continue;
      if (held.length > 0) yield held;
      held = plain;
    }
    const padding = paddingOf(held);
    if (padding < held.length) yield held.subarray(0, held.length - padding);
    return { padding, strayBytes: reader.offset % BLOCK_BYTES };
  } finally {
    await reader.close();
  }
}

/** PKCS#7: the last n bytes have the value n, 1 to 16. */
function paddingOf(plain: Buffer): number {
  const length = plain.at(-1) ?? 0;
  if (length < 1 || length > BLOCK_BYTES || length > plain.length) return 0;
  return plain.subarray(-length).every((byte) => byte === length) ? length : 0;
}
