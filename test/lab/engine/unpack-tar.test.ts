import { lstat, mkdir, readdir, readFile, symlink, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import fc from 'fast-check';
import { pack } from 'tar-stream';
import { describe, expect, test } from 'vitest';
import { openContent } from '../../../src/backup/read-backup.ts';
import { unpackTar } from '../../../src/lab/engine/engine.ts';
import { backupOf, KEY, makeFolder, noise, run, tarOf } from '../../backup/kit.ts';

type Entry = Parameters<ReturnType<typeof pack>['entry']>[0] & { content?: string };

const folder = makeFolder();
const { signal } = new AbortController();
let count = 0;

/** A folder that does not exist yet, in one of its own. */
async function fresh(): Promise<string> {
  const base = join(folder, `target-${count++}`);
  await mkdir(base);
  return join(base, 'data');
}

describe('what tar packed', () => {
  test.each(['gnu', 'ustar', 'posix'])('comes out the same, from the format %s', async (format) => {
    const tree = join(folder, `tree-${format}`);
    const deep = join(tree, 'a', 'd'.repeat(90), 'e'.repeat(90));
    await mkdir(deep, { recursive: true });
    await mkdir(join(tree, 'hollow'));
    await writeFile(join(tree, 'a', 'file'), noise(200_000));
    await writeFile(join(deep, 'program'), '#!/bin/sh\n', { mode: 0o755 });
    await writeFile(join(tree, 'empty'), '');
    const target = await fresh();
    expect(await unpack(await packed(tree, format), target)).toBe(8);
    await run('diff', ['-r', '--no-dereference', tree, target]);
    expect(await modeOf(join(target, 'a', 'file'))).toBe(0o600);
    expect(await modeOf(join(target, 'a'))).toBe(0o700);
    expect(await modeOf(target)).toBe(0o700);
  });

  test('does not depend on the chunks in which it arrives', async () => {
    const tar = await tarOf({ PG_VERSION: '18\n', 'base/1/2': noise(5000), 'base/1/3': '' });
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 3000 }), async (size) => {
        const target = await fresh();
        const pieces = Array.from({ length: Math.ceil(tar.length / size) }, (_, at) =>
          tar.subarray(at * size, (at + 1) * size),
        );
        await unpackTar(Readable.from(pieces), target, signal);
        expect((await readFile(join(target, 'base/1/2'))).equals(Buffer.from(noise(5000)))).toBe(true);
        expect(await readdir(join(target, 'base/1'))).toEqual(['2', '3']);
      }),
      { numRuns: 30 },
    );
  });

  test('comes out of a backup file', async () => {
    const path = join(folder, 'backup');
    await writeFile(path, await backupOf(await tarOf({ PG_VERSION: '18\n' })));
    const target = await fresh();
    expect(await unpackTar(await openContent(path, { key: KEY }), target, signal)).toBe(1);
    expect(await readdir(target)).toEqual(['PG_VERSION']);
  });
});

describe('a hostile tar is refused, and touches nothing outside', () => {
  const climbing = 'its path leaves the folder';
  const strange = 'it is neither a file nor a folder';
  const hostile: readonly (readonly [string, string, readonly Entry[]])[] = [
    ['an absolute path', climbing, [{ name: '/tmp/evil', content: 'x' }]],
    ['a path that climbs', climbing, [{ name: '../evil', content: 'x' }]],
    ['a path that climbs in its middle', climbing, [{ name: 'a/../../evil', content: 'x' }]],
    ['a folder that climbs', climbing, [{ name: '../evil/', type: 'directory' }]],
    ['a symlink', strange, [{ name: 'evil', type: 'symlink', linkname: 'in' }]],
    ['a symlink to an absolute path', strange, [{ name: 'evil', type: 'symlink', linkname: '/etc' }]],
    ['a hard link', strange, [{ name: 'evil', type: 'link', linkname: 'good' }]],
    ['a device', strange, [{ name: 'evil', type: 'character-device', devmajor: 1, devminor: 3 }]],
    ['a block device', strange, [{ name: 'evil', type: 'block-device', devmajor: 8, devminor: 0 }]],
    ['a pipe', strange, [{ name: 'evil', type: 'fifo' }]],
    ['a file that is there twice', 'EEXIST', [{ name: 'good', content: '2' }]],
    [
      'a file in the place of a folder',
      'EEXIST',
      [
        { name: 'a/b', content: '1' },
        { name: 'a', content: '2' },
      ],
    ],
    ['a folder in the place of a file', 'EEXIST', [{ name: 'good/b', content: '2' }]],
    ['a file without a name', 'EEXIST', [{ name: '.', content: 'x' }]],
  ];

  test.each(hostile)('%s', async (_name, why, entries) => {
    const target = await fresh();
    const base = join(target, '..');
    await writeFile(join(base, 'neighbour'), 'safe');
    const stream = Readable.from([await tarWith([{ name: 'good', content: 'x' }, ...entries])]);
    await expect(unpackTar(stream, target, signal)).rejects.toThrow(why);
    expect(await readdir(base)).toEqual(['data', 'neighbour']);
    expect(stream.destroyed).toBe(true);
  });

  test.each(['gnu', 'posix'])('a sparse file, in the format %s', async (format) => {
    const tree = join(folder, `sparse-${format}`);
    await mkdir(tree);
    await writeFile(join(tree, 'file'), '');
    await truncate(join(tree, 'file'), 5_000_000);
    const tar = await run('tar', ['-C', tree, '-S', `--format=${format}`, '-cf', '-', '.']);
    await expect(unpack(tar, await fresh())).rejects.toThrow(strange);
  });

  test('a name that would act on a terminal is shown harmlessly', async () => {
    const tar = await tarWith([{ name: '../\u001b[2Jevil', content: 'x' }]);
    await expect(unpack(tar, await fresh())).rejects.toThrow(
      'the tar entry "../\ufffd[2Jevil" is refused: its path leaves the folder',
    );
  });
});

describe('other ends', () => {
  test('an existing folder is left alone, as is a symlink in its place', async () => {
    const target = await fresh();
    await mkdir(join(target, '..', 'elsewhere'));
    await symlink('elsewhere', target);
    await expect(unpack(await tarOf({ a: 'x' }), target)).rejects.toThrow('EEXIST');
    expect(await readdir(join(target, '..', 'elsewhere'))).toEqual([]);
  });

  test('a damaged tar and a short one are refused', async () => {
    const tar = await tarOf({ a: 'x', b: noise(5000) });
    const damaged = Buffer.from(tar);
    damaged[1024] = 0x7f;
    await expect(unpack(damaged, await fresh())).rejects.toThrow('Invalid tar header');
    await expect(unpack(tar.subarray(0, 3000), await fresh())).rejects.toThrow('Unexpected end of data');
  });

  test('a backup that is cut rejects with its own problem', async () => {
    const path = join(folder, 'cut');
    const file = await backupOf(await tarOf({ a: noise(300_000), b: noise(300_000, 2) }));
    await writeFile(path, file.subarray(0, 400_000));
    await expect(
      unpackTar(await openContent(path, { key: KEY }), await fresh(), signal),
    ).rejects.toMatchObject({
      code: 'backup.truncated',
      shortMessage: expect.stringContaining('the gzip data ends early'),
    });
  });

  test('a stream that is closed early or aborted does not hang', async () => {
    const half = (await tarOf({ a: noise(5000) })).subarray(0, 2000);
    for (const end of ['close', 'abort'] as const) {
      const stream = new Readable({ read() {} });
      stream.push(half);
      const abort = new AbortController();
      const unpacking = unpackTar(stream, await fresh(), abort.signal);
      setImmediate(() => (end === 'close' ? stream.destroy() : abort.abort()));
      await expect(unpacking).rejects.toMatchObject({
        code: end === 'close' ? 'ERR_STREAM_PREMATURE_CLOSE' : 'ABORT_ERR',
      });
      expect(stream.destroyed).toBe(true);
    }
  });
});

async function unpack(tar: Buffer, target: string): Promise<number> {
  return await unpackTar(Readable.from([tar]), target, signal);
}

async function packed(tree: string, format: string): Promise<Buffer> {
  return await run('tar', ['-C', tree, `--format=${format}`, '-cf', '-', '.']);
}

async function tarWith(entries: readonly Entry[]): Promise<Buffer> {
  const tar = pack();
  for (const { content, ...header } of entries) {
    if (content === undefined) tar.entry({ ...header, size: 0 });
    else tar.entry(header, content);
  }
  tar.finalize();
  return await buffer(tar as AsyncIterable<Uint8Array>);
}

async function modeOf(path: string): Promise<number> {
  return (await lstat(path)).mode & 0o7777;
}
