import { spawn } from 'node:child_process';
import { createCipheriv } from 'node:crypto';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { pack } from 'tar-stream';
import { afterAll } from 'vitest';
import type { KeyProfile } from '../../src/backup/backup-file.ts';
import { deriveKey } from '../../src/backup/derive-key.ts';
import { encryptor } from '../../src/backup/encryptor.ts';
import type { Secret } from '../../src/base/secret.ts';
import { KEY } from './bytes.ts';

export { KEY, noise } from './bytes.ts';

export const PROFILES: readonly KeyProfile[] = ['md5', 'sha256', 'pbkdf2'];

/** The options of `openssl enc` for each profile. */
const OPENSSL_FLAGS: Record<KeyProfile, readonly string[]> = {
  md5: ['-md', 'md5'],
  sha256: ['-md', 'sha256'],
  pbkdf2: ['-pbkdf2', '-md', 'sha256', '-iter', '10000'],
};

/**
 * A folder that is removed after the surrounding tests; it contains the key as `key`. Not for use inside a
 * test or a hook.
 */
export function makeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'lifeboat-backup-'));
  afterAll(() => rm(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, 'key'), KEY.reveal(), { mode: 0o600 });
  return folder;
}

/** Runs another program; returns its output, throws if it fails. */
export async function run(command: string, args: readonly string[], input?: Uint8Array): Promise<Buffer> {
  const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'pipe'] });
  child.stdin.on('error', () => undefined);
  child.stdin.end(input);
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  const [output, errors, code] = await Promise.all([buffer(child.stdout), buffer(child.stderr), ended]);
  if (code !== 0) throw new Error(`${command} ended with ${code}: ${errors.toString()}`);
  return output;
}

/** `openssl enc` in either direction, with the key of the folder. */
export async function openssl(
  folder: string,
  mode: '-e' | '-d',
  profile: KeyProfile,
  input: Uint8Array,
): Promise<Buffer> {
  const pass = `file:${join(folder, 'key')}`;
  return await run('openssl', ['enc', mode, '-aes-256-cbc', ...OPENSSL_FLAGS[profile], '-pass', pass], input);
}

/** A backup file of ours around packed bytes. */
export async function seal(
  packed: Uint8Array,
  profile: KeyProfile = 'md5',
  key: Secret = KEY,
): Promise<Buffer> {
  return await buffer(
    Readable.from([packed]).pipe(encryptor({ key, profile, salt: Buffer.from('saltsalt') })),
  );
}

/** A backup file of ours around content. */
export async function backupOf(content: Uint8Array, profile: KeyProfile = 'md5'): Promise<Buffer> {
  return await seal(gzipSync(content), profile);
}

/** A tar in memory. */
export async function tarOf(files: Readonly<Record<string, string | Uint8Array>>): Promise<Buffer> {
  const tar = pack();
  for (const [name, content] of Object.entries(files))
    tar.entry({ name, mtime: new Date(0) }, Buffer.from(content));
  tar.finalize();
  return await buffer(tar as AsyncIterable<Uint8Array>);
}

/** A ustar entry by hand, for cases that no writer produces. */
export function rawEntry(type: string, content: Buffer, size = content.length): Buffer {
  const header = Buffer.alloc(512);
  header.write('raw', 0);
  header.write('0000644\0', 100);
  header.write(`${size.toString(8).padStart(11, '0')}\0`, 124);
  header.write(type, 156);
  header.write('ustar\x0000', 257);
  header.fill(0x20, 148, 156);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return Buffer.concat([header, content, Buffer.alloc(-content.length & 511)]);
}

/** A backup file of ours around whole blocks, with arbitrary padding. */
export function sealUnpadded(blocks: Uint8Array): Buffer {
  const salt = Buffer.from('saltsalt');
  const { key, iv } = deriveKey(KEY, salt, 'md5');
  const cipher = createCipheriv('aes-256-cbc', key, iv).setAutoPadding(false);
  return Buffer.concat([Buffer.from('Salted__'), salt, cipher.update(blocks), cipher.final()]);
}
