import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { gunzipSync, gzipSync } from 'node:zlib';
import { extract, pack } from 'tar-stream';
import type { Packing } from './foreign/pack.ts';

/**
 * The bytes that `tar cz` and `openssl enc -md md5` would write, made in this process: four processes a run
 * would be most of the cost of thousands of runs. That the bytes of those programs are understood as well is
 * shown by `test/e2e/rotate.test.ts`.
 */
export const packHere: Packing = {
  async pack(folder, { path, key }) {
    const tar = pack();
    tar.entry({ name: './', type: 'directory' });
    for (const found of await readdir(folder, { recursive: true, withFileTypes: true })) {
      const at = join(found.parentPath, found.name);
      const name = `.${at.slice(folder.length)}`;
      if (found.isDirectory()) tar.entry({ name: `${name}/`, type: 'directory' });
      if (found.isFile()) tar.entry({ name }, await readFile(at));
    }
    tar.finalize();
    const plain = gzipSync(await buffer(tar), { level: 1 });
    const salt = randomBytes(8);
    const cipher = createCipheriv('aes-256-cbc', ...derived(key, salt));
    await writeFile(
      path,
      Buffer.concat([Buffer.from('Salted__'), salt, cipher.update(plain), cipher.final()]),
    );
  },
  async unpack({ path, key }, folder) {
    const sealed = await readFile(path);
    const decipher = createDecipheriv('aes-256-cbc', ...derived(key, sealed.subarray(8, 16)));
    const tar = extract();
    tar.end(gunzipSync(Buffer.concat([decipher.update(sealed.subarray(16)), decipher.final()])));
    for await (const entry of tar) {
      const at = join(folder, entry.header.name);
      await mkdir(dirname(at), { recursive: true });
      const bytes = await buffer(entry);
      if (entry.header.type === 'file') await writeFile(at, bytes);
    }
  },
};

/** Key and IV, as OpenSSL's EVP_BytesToKey makes them with MD5. */
function derived(key: string, salt: Buffer): [Buffer, Buffer] {
  let block = Buffer.alloc(0);
  let all = Buffer.alloc(0);
  while (all.length < 48) {
    block = createHash('md5').update(block).update(key).update(salt).digest();
    all = Buffer.concat([all, block]);
  }
  return [all.subarray(0, 32), all.subarray(32, 48)];
}
