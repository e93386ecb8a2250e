import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { beforeAll, describe, expect, test } from 'vitest';
import type { VerifyOptions } from '../../src/backup/backup-file.ts';
import { ContentInspector } from '../../src/backup/content-inspector.ts';
import { verifyFile, verifyStream } from '../../src/backup/verify-file.ts';
import { Secret } from '../../src/base/secret.ts';
import { backupOf, KEY, makeFolder, noise, seal, tarOf } from './kit.ts';

const verify = (file: Uint8Array, options: Partial<VerifyOptions> = {}) =>
  verifyStream(Readable.from([file]), { key: KEY, ...options });

const folder = makeFolder();
let tar: Buffer;
beforeAll(async () => {
  tar = await tarOf({ 'a.txt': 'alpha', 'b/c.bin': noise(5000) });
});

describe('what is inside', () => {
  test('a gzip in the gzip is intact, and not walked', async () => {
    const report = await verify(await backupOf(gzipSync('dump')));
    expect(report).toMatchObject({ ok: true, verdict: 'intact', content: 'gzip', entries: undefined });
  });

  test.each([0, 1, 3, 511, 512, 100_000])(
    '%d bytes of plain data are intact, and not walked',
    async (size) => {
      const report = await verify(await backupOf(Buffer.alloc(size, 'select 1;\n')));
      expect(report).toMatchObject({ ok: true, verdict: 'intact', content: 'data', contentBytes: size });
    },
  );

  test('a tar without entries is readable, other zeros are data', async () => {
    const zeros = Buffer.alloc(10_240);
    expect(await verify(await backupOf(zeros))).toMatchObject({ verdict: 'readable', entries: 0 });
    zeros[9000] = 1;
    expect(await verify(await backupOf(zeros))).toMatchObject({ verdict: 'intact', content: 'data' });
    expect(await verify(await backupOf(Buffer.alloc(512)))).toMatchObject({ content: 'data' });
    const inspector = new ContentInspector();
    inspector.write(Buffer.alloc(1024));
    inspector.write(Buffer.alloc(1024, 1));
    expect(inspector.end()).toEqual({ content: 'data', entries: undefined });
  });

  test('a tar that is damaged inside a whole gzip is corrupt', async () => {
    const damaged = Buffer.from(tar);
    damaged[1024 + 3] = 0x7f;
    expect(await verify(await backupOf(damaged))).toMatchObject({
      ok: false,
      problem: 'corrupt',
      shortMessage: 'the tar header at byte 1024 of the content has a wrong checksum',
    });
    const first = Buffer.from(tar);
    first[3] = 0x7f;
    expect(await verify(await backupOf(first))).toMatchObject({ ok: false, problem: 'corrupt' });
  });

  test('a tar that was cut before it was packed is truncated', async () => {
    expect(await verify(await backupOf(tar.subarray(0, 2000)))).toMatchObject({
      ok: false,
      problem: 'truncated',
      shortMessage: expect.stringContaining('the tar inside ends early, at byte 2000 of the content'),
    });
  });
});

describe('gzip members', () => {
  test('that follow each other are read as one, as gzip does', async () => {
    const packed = [tar.subarray(0, 700), Buffer.alloc(0), tar.subarray(700)].map((part) => gzipSync(part));
    const report = await verify(await seal(Buffer.concat(packed)));
    expect(report).toMatchObject({ ok: true, verdict: 'readable', entries: 2, contentBytes: tar.length });
  });

  test.each([
    ['text', Buffer.from('and then some')],
    ['one byte', Buffer.from('x')],
    ['zeros', Buffer.alloc(512)],
    ['much text', Buffer.alloc(5_000_000, 'more ')],
  ])('followed by %s are trailing data', async (_name, tail) => {
    const report = await verify(await seal(Buffer.concat([gzipSync(tar), tail])));
    expect(report).toMatchObject({ ok: false, problem: 'trailing-data' });
  });

  test('with every optional header field are read', async () => {
    const packed = gzipSync(tar);
    const fields = Buffer.concat([
      Buffer.from([5, 0]),
      Buffer.from('extra'),
      Buffer.from('a-name\0'),
      Buffer.from('a comment\0'),
      Buffer.from([0, 0]),
    ]);
    const header = Buffer.from(packed.subarray(0, 10));
    header[3] = 0x1e;
    const file = await seal(Buffer.concat([header, fields, packed.subarray(10)]));
    expect(await verify(file)).toMatchObject({ ok: true, entries: 2 });
  });
});

describe('what is wrong', () => {
  test('a wrong key is recognised within 64 KiB of reading', async () => {
    const path = join(folder, 'big');
    await writeFile(path, await backupOf(noise(3_000_000)));
    const report = await verifyFile(path, { key: new Secret('not it') });
    expect(report).toMatchObject({
      ok: false,
      problem: 'wrong-key',
      shortMessage: 'the key does not open the first block, at byte 16',
      cipherSha256: undefined,
    });
    expect(report.cipherBytes).toBeLessThanOrEqual(64 * 1024);
  });

  test('a login page is no backup', async () => {
    expect(await verify(Buffer.from('<html>sign in</html>'))).toMatchObject({
      ok: false,
      problem: 'not-a-backup',
      shortMessage: 'there is no Salted__ header at byte 0, the file looks like html',
    });
  });

  test('an empty file is no backup', async () => {
    expect(await verify(Buffer.alloc(0))).toMatchObject({ problem: 'not-a-backup' });
  });

  test.each([1, 15, 16, 1000])('%d bytes after the last block are trailing data', async (count) => {
    const file = Buffer.concat([await backupOf(tar), noise(count, 3)]);
    expect(await verify(file)).toMatchObject({ ok: false, problem: 'trailing-data' });
  });

  test('two encrypted files in one are named as such', async () => {
    const file = await backupOf(tar);
    for (const cut of [file.length, 100, 7]) {
      const joined = Buffer.concat([file, file]);
      const stream = Readable.from([joined.subarray(0, cut), joined.subarray(cut)]);
      expect(await verifyStream(stream, { key: KEY })).toMatchObject({
        ok: false,
        problem: 'trailing-data',
        shortMessage: `a second encrypted file begins at byte ${file.length}`,
      });
    }
  });

  test('a file that is not there is an error, not a verdict', async () => {
    await expect(verifyFile(join(folder, 'nowhere'), { key: KEY })).rejects.toMatchObject({
      code: 'backup.unreadable',
      shortMessage: expect.stringContaining('ENOENT'),
    });
    await expect(verifyFile(folder, { key: KEY })).rejects.toMatchObject({ code: 'backup.unreadable' });
  });
});

describe('on the way', () => {
  test('progress only grows and ends at the size of the file', async () => {
    const path = join(folder, 'progress');
    const file = await backupOf(noise(5_000_000));
    await writeFile(path, file);
    const seen: number[] = [];
    const totals = new Set<number | undefined>();
    await verifyFile(path, {
      key: KEY,
      onProgress(done, total) {
        seen.push(done);
        totals.add(total);
      },
    });
    expect(seen.length).toBeGreaterThan(3);
    expect(seen).toEqual([...new Set(seen)].sort((a, b) => a - b));
    expect(seen.at(-1)).toBe(file.length);
    expect([...totals]).toEqual([file.length]);
  });

  test('the signal ends it with its reason', async () => {
    const path = join(folder, 'aborted');
    await writeFile(path, await backupOf(noise(5_000_000)));
    const controller = new AbortController();
    const reason = new Error('operator pressed q');
    const verifying = verifyFile(path, {
      key: KEY,
      signal: controller.signal,
      onProgress: (done) => done > 2_000_000 && controller.abort(reason),
    });
    await expect(verifying).rejects.toBe(reason);
  });

  test('the signal ends it while the stream stalls', async () => {
    const file = await backupOf(noise(100_000));
    const stalled = new Readable({ read() {} });
    stalled.push(file.subarray(0, 50_000));
    const controller = new AbortController();
    const reason = new Error('enough');
    const verifying = verifyStream(stalled, {
      key: KEY,
      signal: controller.signal,
      onProgress: () => setImmediate(() => controller.abort(reason)),
    });
    await expect(verifying).rejects.toBe(reason);
    expect(stalled.destroyed).toBe(true);
  });

  test('an error of the stream comes out as it is', async () => {
    const file = await backupOf(noise(3_000_000));
    const lost = new Error('connection lost');
    async function* broken() {
      yield file.subarray(0, 1_000_000);
      throw lost;
    }
    await expect(verifyStream(Readable.from(broken()), { key: KEY })).rejects.toBe(lost);
  });

  test('the verdict does not depend on how the stream is chunked', async () => {
    const file = await backupOf(tar);
    const whole = await verify(file);
    for (const size of [1, 7, 16, 17, 33]) {
      const chunks = Array.from({ length: Math.ceil(file.length / size) }, (_, index) =>
        file.subarray(index * size, (index + 1) * size),
      );
      expect(await verifyStream(Readable.from(chunks), { key: KEY })).toEqual(whole);
    }
  });
});
