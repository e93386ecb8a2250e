import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { beforeAll, describe, expect, test } from 'vitest';
import type { VerifyOptions } from '../../src/backup/backup-file.ts';
import { inspectContent } from '../../src/backup/inspect-content.ts';
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
  test('a gzip in the gzip is intact, whatever it contains', async () => {
    const report = await verify(await backupOf(gzipSync('select 1;')));
    expect(report).toMatchObject({ ok: true, verdict: 'intact', content: 'gzip', entries: undefined });
  });

  test.each([10, 300, 511, 512, 100_000])(
    '%d bytes of plain data are intact, and are not walked',
    async (size) => {
      const report = await verify(await backupOf(Buffer.alloc(size, 'select 1;\n')));
      expect(report).toMatchObject({ ok: true, verdict: 'intact', content: 'data', contentBytes: size });
    },
  );

  test('zeros with one other byte among them are data', async () => {
    const zeros = Buffer.alloc(10_240);
    zeros[9000] = 1;
    expect(await verify(await backupOf(zeros))).toMatchObject({ verdict: 'intact', content: 'data' });
    const found = await inspectContent(Readable.from([Buffer.alloc(1024), Buffer.alloc(1024, 1)]));
    expect(found).toEqual({ content: 'data', entries: undefined });
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

describe('a backup without data is empty, and no proof', () => {
  test.each([
    ['0 bytes', Buffer.alloc(0), '0 bytes'],
    ['one zero', Buffer.alloc(1), 'only zeros, 1 B'],
    ['a short file of zeros', Buffer.alloc(512), 'only zeros, 512 B'],
    ['a tar without entries', Buffer.alloc(10_240), 'only zeros, 10 KiB'],
    ['100 kB of zeros', Buffer.alloc(100_000), 'only zeros, 97.7 KiB'],
    ['white space', Buffer.from(' \n\n'), 'only white space, 3 B'],
    [
      'the text of an error',
      Buffer.from('pg_dump: error: connection to server failed\n'),
      'a text of 44 B that is no dump; it begins: pg_dump: error: connection to server failed',
    ],
    [
      'the page of a proxy, with a style',
      Buffer.from('<!DOCTYPE html>\n<style>\nb { color: red;\n}\n</style>sign in'),
      'a text of 57 B that is no dump; it begins: <!DOCTYPE html>',
    ],
    [
      'the JSON of an error',
      Buffer.from('{"error":"unauthorized"}'),
      'a text of 24 B that is no dump; it begins: {"error":"unauthorized"}',
    ],
    ['a gzip of nothing', gzipSync(''), 'a gzip of 0 bytes'],
    [
      'a gzip of a text',
      gzipSync('mysqldump: Got error: 1045'),
      'a gzip of a text of 26 B that is no dump; it begins: mysqldump: Got error: 1045',
    ],
  ])('%s', async (_name, content, found) => {
    for (const chunks of [[content], [content.subarray(0, 3), content.subarray(3)]])
      expect((await inspectContent(Readable.from(chunks))).empty).toBe(found);
    expect(await verify(await backupOf(content))).toMatchObject({
      ok: false,
      problem: 'empty',
      shortMessage: `the key opens it, and it holds no data: ${found}`,
      cipherSha256: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
  });

  test('a tar of files that are all empty', async () => {
    const report = await verify(await backupOf(await tarOf({ 'dump.sql': '', 'a/b': '' })));
    expect(report).toMatchObject({
      problem: 'empty',
      shortMessage: expect.stringContaining('no entry has content'),
    });
  });

  test('an escape sequence in a message of the dump is not shown as it is', async () => {
    const report = await verify(await backupOf(Buffer.from('\u001b]0;owned\u0007fatal')));
    expect(JSON.stringify(report)).not.toMatch(/\\u001b|\\u0007/);
  });

  test.each([
    ['a statement', 'create table t (a int);\n'],
    [
      'a dump without a row',
      '-- PostgreSQL database dump\n\nSET x = 1\n-- PostgreSQL database dump complete\n',
    ],
    ['JSON, one record a line', '{"a":1}\n{"a":2}\n'],
    ['an LDAP tree', 'dn: dc=example,dc=com\nobjectClass: domain\n'],
    ['bytes that are no text', '\u0000\u0001\u0002'],
    ['a gzip of a statement', gzipSync('select 1;\n')],
    ['more text than any message has', 'x'.repeat(65_537)],
  ])('but not %s', async (_name, content) => {
    expect(await verify(await backupOf(Buffer.from(content)))).toMatchObject({ ok: true, verdict: 'intact' });
  });
});

describe('gzip members', () => {
  test('that follow each other are read as one stream, as gzip does', async () => {
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

describe('problems', () => {
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

describe('during verification', () => {
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

  test('the signal ends it with the reason of the signal', async () => {
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

  test('an error of the stream is passed on unchanged', async () => {
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

describe('a tar is inspected: its entries must hold data', () => {
  const ERROR = 'pg_dump: error: connection to server failed\n';
  test.each<[string, Record<string, string | Uint8Array>, string | undefined]>([
    [
      'only the text of an error',
      { 'dump.sql': ERROR },
      'a tar in which no entry holds data, but a text of 44 B that is no dump; it begins: pg_dump: error: connection to server failed',
    ],
    [
      'only zeros, in two files',
      { a: Buffer.alloc(100_000), b: Buffer.alloc(7) },
      'a tar in which no entry holds data, but only zeros, 97.7 KiB',
    ],
    ['an error beside data', { 'dump.log': ERROR, 'data.bin': Buffer.from([1, 0, 2, 3]) }, undefined],
    ['a short text that names no error', { 'users.csv': 'id,name\n1,Ada\n' }, undefined],
    ['zeros that end in data', { page: Buffer.concat([Buffer.alloc(70_000), Buffer.from('x')]) }, undefined],
  ])('%s', async (_name, files, found) => {
    const tar = await tarOf(files);
    for (const length of [tar.length, 512, 7]) {
      const chunks = Array.from({ length: Math.ceil(tar.length / length) }, (_, at) =>
        tar.subarray(at * length, (at + 1) * length),
      );
      expect((await inspectContent(Readable.from(chunks))).empty).toBe(found);
    }
  });
});
