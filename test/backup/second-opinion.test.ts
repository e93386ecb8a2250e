import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { beforeAll, describe, expect, test } from 'vitest';
import { encryptor } from '../../src/backup/encryptor.ts';
import { openContent } from '../../src/backup/read-backup.ts';
import { verifyFile } from '../../src/backup/verify-file.ts';
import { KEY, makeFolder, noise, openssl, PROFILES, run } from './kit.ts';

const folder = makeFolder();
let tar: Buffer;

beforeAll(async () => {
  const base = join(folder, 'base');
  await mkdir(join(base, 'deep', 'er'), { recursive: true });
  await writeFile(join(base, 'empty'), '');
  await writeFile(join(base, 'text'), noise(3_000_000, 7, 16));
  await writeFile(join(base, 'deep', 'er', 'x'.repeat(150)), noise(70_000, 9));
  tar = await run('tar', ['-C', folder, '-cf', '-', 'base']);
});

describe.each(PROFILES)('with %s', (profile) => {
  test('a backup made by tar, gzip and openssl is readable', async () => {
    const path = join(folder, `theirs-${profile}`);
    const cipher = await openssl(folder, '-e', profile, await run('gzip', ['-c'], tar));
    await writeFile(path, cipher);
    expect(await verifyFile(path, { key: KEY })).toEqual({
      ok: true,
      verdict: 'readable',
      profile,
      content: 'tar',
      entries: (await run('tar', ['-tf', '-'], tar)).toString().trim().split('\n').length,
      cipherBytes: cipher.length,
      cipherSha256: sha256(cipher),
      contentBytes: tar.length,
      contentSha256: sha256(tar),
    });
    expect(await buffer(await openContent(path, { key: KEY }))).toEqual(tar);
  });

  test('a backup of ours is opened by openssl, gzip and tar, bit for bit', async () => {
    const path = join(folder, `ours-${profile}`);
    await pipeline(
      Readable.from([tar.subarray(0, 5), tar.subarray(5)]),
      createGzip(),
      encryptor({ key: KEY, profile }),
      createWriteStream(path),
    );
    const packed = await openssl(folder, '-d', profile, await readFile(path));
    const content = await run('gzip', ['-dc'], packed);
    expect(content.equals(tar)).toBe(true);
    expect((await run('tar', ['-tf', '-'], content)).toString()).toContain('base/deep/er/xxx');
  });
});

test('a salt is used only once: the same content gives a different file each time', async () => {
  const seal = () => buffer(Readable.from([tar]).pipe(encryptor({ key: KEY, profile: 'md5' })));
  expect((await seal()).equals(await seal())).toBe(false);
  expect(() => encryptor({ key: KEY, profile: 'md5', salt: Buffer.alloc(7) })).toThrow(RangeError);
});

function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
