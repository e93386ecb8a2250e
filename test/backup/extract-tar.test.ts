import { link, lstat, mkdir, readdir, realpath, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import fc from 'fast-check';
import { pack } from 'tar-stream';
import { describe, expect, test } from 'vitest';
import { extractTar } from '../../src/backup/extract-tar.ts';
import { openContent } from '../../src/backup/open-content.ts';
import { backupOf, KEY, makeFolder, noise, rawEntry, run, tarOf } from './kit.ts';

type Entry = Parameters<ReturnType<typeof pack>['entry']>[0] & { content?: string };

const folder = makeFolder();
let count = 0;

/** A folder that does not exist yet, with a neighbour that nothing may touch. */
const fresh = () => join(folder, `target-${count++}`, 'data');

describe('what tar packed', () => {
  test.each(['v7', 'gnu', 'ustar', 'posix'])('comes out the same, from the format %s', async (format) => {
    const tree = join(folder, `tree-${format}`);
    await mkdir(join(tree, 'a', 'b'), { recursive: true });
    await mkdir(join(tree, 'hollow'));
    await writeFile(join(tree, 'a', 'file'), noise(200_000));
    await writeFile(join(tree, 'a', 'b', 'program'), '#!/bin/sh\n', { mode: 0o755 });
    await writeFile(join(tree, 'empty'), '');
    await symlink('../file', join(tree, 'a', 'b', 'up'));
    await symlink('a/b', join(tree, 'down'));
    await link(join(tree, 'a', 'file'), join(tree, 'same'));
    const target = fresh();
    const entries = await extractTar(Readable.from([await packed(tree, format)]), target);
    expect(entries).toBe(10);
    await run('diff', ['-r', '--no-dereference', tree, target]);
    expect(await modeOf(join(target, 'a', 'file'))).toBe(0o600);
    expect(await modeOf(join(target, 'a', 'b', 'program'))).toBe(0o700);
    expect(await modeOf(join(target, 'a'))).toBe(0o700);
    expect(await modeOf(target)).toBe(0o700);
  });

  test('comes out of a backup file', async () => {
    const path = join(folder, 'backup');
    await writeFile(path, await backupOf(await tarOf({ PG_VERSION: '18\n' })));
    const target = fresh();
    expect(await extractTar(await openContent(path, { key: KEY }), target)).toBe(1);
    expect(await readdir(target)).toEqual(['PG_VERSION']);
  });
});

describe('a hostile tar is refused, and nothing of it stays', () => {
  const hostile: readonly (readonly [string, readonly Entry[]])[] = [
    ['an absolute path', [{ name: '/tmp/evil', content: 'x' }]],
    ['a path that climbs', [{ name: '../evil', content: 'x' }]],
    ['a path that climbs in its middle', [{ name: 'a/../../evil', content: 'x' }]],
    ['a folder that climbs', [{ name: '../evil/', type: 'directory' }]],
    ['a symlink to an absolute path', [{ name: 'evil', type: 'symlink', linkname: '/etc' }]],
    ['a symlink that climbs out', [{ name: 'a/evil', type: 'symlink', linkname: '../../x' }]],
    [
      'symlinks that climb out together',
      [
        { name: 'here', type: 'symlink', linkname: '.' },
        { name: 'evil', type: 'symlink', linkname: 'here/../..' },
      ],
    ],
    [
      'a file behind a symlink',
      [
        { name: 'way', type: 'symlink', linkname: 'in' },
        { name: 'way/evil', content: 'x' },
      ],
    ],
    [
      'a file over a symlink',
      [
        { name: 'way', type: 'symlink', linkname: 'in' },
        { name: 'way', content: 'x' },
      ],
    ],
    ['a hard link that climbs', [{ name: 'evil', type: 'link', linkname: '../neighbour' }]],
    ['a hard link to an absolute path', [{ name: 'evil', type: 'link', linkname: '/etc/passwd' }]],
    [
      'a hard link to a symlink',
      [
        { name: 'way', type: 'symlink', linkname: 'in' },
        { name: 'evil', type: 'link', linkname: 'way' },
      ],
    ],
    ['a device', [{ name: 'evil', type: 'character-device', devmajor: 1, devminor: 3 }]],
    ['a block device', [{ name: 'evil', type: 'block-device', devmajor: 8, devminor: 0 }]],
    ['a pipe', [{ name: 'evil', type: 'fifo' }]],
    [
      'a file that is there twice',
      [
        { name: 'a', content: '1' },
        { name: 'a', content: '2' },
      ],
    ],
    [
      'a symlink that is there twice',
      [
        { name: 'a', type: 'symlink', linkname: 'b' },
        { name: 'a', type: 'symlink', linkname: 'c' },
      ],
    ],
    [
      'a file in the place of a folder',
      [
        { name: 'a/b', content: '1' },
        { name: 'a', content: '2' },
      ],
    ],
    [
      'a folder in the place of a file',
      [
        { name: 'a', content: '1' },
        { name: 'a/b', content: '2' },
      ],
    ],
    ['a file without a name', [{ name: '.', content: 'x' }]],
  ];

  test.each(hostile)('%s', async (_name, entries) => {
    const target = fresh();
    const base = join(target, '..');
    await mkdir(base);
    await writeFile(join(base, 'neighbour'), 'safe');
    const stream = Readable.from([await tarWith([{ name: 'good', content: 'x' }, ...entries])]);
    await expect(extractTar(stream, target)).rejects.toMatchObject({ code: 'backup.unsafe-entry' });
    expect(await readdir(base)).toEqual(['neighbour']);
    expect((await lstat(join(base, 'neighbour'))).nlink).toBe(1);
    expect(stream.destroyed).toBe(true);
  });

  test.each(['2', '5', 'Z'])('content where there should be none, in an entry of type %s', async (type) => {
    const stream = Readable.from([rawEntry(type, Buffer.from('content'))]);
    await expect(extractTar(stream, fresh())).rejects.toMatchObject({ code: 'backup.unsafe-entry' });
  });

  test.each(['gnu', 'posix'])('a sparse file, in the format %s', async (format) => {
    const tree = join(folder, `sparse-${format}`);
    await mkdir(tree);
    await writeFile(join(tree, 'file'), '');
    await truncate(join(tree, 'file'), 5_000_000);
    const tar = await run('tar', ['-C', tree, '-S', `--format=${format}`, '-cf', '-', '.']);
    await expect(extractTar(Readable.from([tar]), fresh())).rejects.toMatchObject({
      shortMessage: expect.stringContaining('it is a sparse file'),
    });
  });

  test('a name that would act on a terminal is shown harmless', async () => {
    const stream = Readable.from([await tarWith([{ name: '../\u001b[2Jevil', content: 'x' }])]);
    await expect(extractTar(stream, fresh())).rejects.toMatchObject({
      shortMessage: 'the tar entry "../\ufffd[2Jevil" is refused: its path leaves the folder',
    });
  });
});

test('no symlink that is let in leads out, wherever others point', async () => {
  const step = fc.constantFrom('..', '..', '.', 'a', 'b');
  const path = fc.array(fc.constantFrom('a', 'b'), { minLength: 1, maxLength: 3 });
  const links = fc.array(fc.tuple(path, fc.array(step, { minLength: 1, maxLength: 5 })), { maxLength: 5 });
  const outside = await realpath(folder);
  // Whatever a link could reach outside is there, so that no way out ends in nothing.
  for (const name of ['a', 'b', 'links/a', 'links/b', 'links/data']) {
    await mkdir(join(outside, name), { recursive: true });
  }
  const target = join(outside, 'links', 'data');
  let followed = 0;
  await fc.assert(
    fc.asyncProperty(links, async (made) => {
      await rm(target, { recursive: true });
      const entries = made.map(([parts, steps]) => ({
        name: parts.join('/'),
        type: 'symlink' as const,
        linkname: steps.join('/'),
      }));
      const unpacked = await extractTar(Readable.from([await tarWith(entries)]), target).catch(
        () => undefined,
      );
      if (unpacked === undefined) await mkdir(target);
      for (const [parts] of made) {
        const end = await realpath(join(target, ...parts)).catch(() => undefined);
        if (end === undefined) continue;
        expect(`${end}/`.startsWith(`${target}/`), `${parts.join('/')} leads to ${end}`).toBe(true);
        followed++;
      }
    }),
    { numRuns: 400 },
  );
  expect(followed).toBeGreaterThan(5);
});

describe('other ends', () => {
  test('a folder that holds something is left alone', async () => {
    const target = fresh();
    await mkdir(target, { recursive: true });
    await writeFile(join(target, 'mine'), 'x');
    await expect(extractTar(Readable.from([await tarOf({ a: 'x' })]), target)).rejects.toMatchObject({
      code: 'backup.folder-not-empty',
    });
    expect(await readdir(target)).toEqual(['mine']);
  });

  test('a symlink in the place of the folder is not followed', async () => {
    const target = fresh();
    await mkdir(join(target, '..', 'elsewhere'), { recursive: true });
    await symlink('elsewhere', target);
    await expect(extractTar(Readable.from([await tarOf({ a: 'x' })]), target)).rejects.toMatchObject({
      code: 'backup.folder-not-empty',
    });
    expect(await readdir(join(target, '..', 'elsewhere'))).toEqual([]);
  });

  test('a damaged tar is corrupt, a short one truncated', async () => {
    const tar = await tarOf({ a: 'x', b: noise(5000) });
    const damaged = Buffer.from(tar);
    damaged[1024] = 0x7f;
    const target = fresh();
    await expect(extractTar(Readable.from([damaged]), target)).rejects.toMatchObject({
      code: 'backup.corrupt',
    });
    await expect(extractTar(Readable.from([tar.subarray(0, 3000)]), target)).rejects.toMatchObject({
      code: 'backup.truncated',
    });
    expect(await readdir(join(target, '..'))).toEqual([]);
  });

  test('a backup that turns out cut rejects with its own problem, and the folder goes', async () => {
    const path = join(folder, 'cut');
    const file = await backupOf(await tarOf({ a: noise(300_000), b: noise(300_000, 2) }));
    await writeFile(path, file.subarray(0, 400_000));
    const target = fresh();
    await expect(extractTar(await openContent(path, { key: KEY }), target)).rejects.toMatchObject({
      code: 'backup.truncated',
      shortMessage: expect.stringContaining('the gzip data ends early'),
    });
    expect(await readdir(join(target, '..'))).toEqual([]);
  });

  test('a stream that is closed early does not hang', async () => {
    const stream = new Readable({ read() {} });
    stream.push((await tarOf({ a: noise(5000) })).subarray(0, 2000));
    const target = fresh();
    const extracting = extractTar(stream, target);
    setImmediate(() => stream.destroy());
    await expect(extracting).rejects.toMatchObject({ code: 'ERR_STREAM_PREMATURE_CLOSE' });
    expect(await readdir(join(target, '..'))).toEqual([]);
  });

  test('a disk that refuses is an error with its code', async () => {
    const target = join(folder, 'key', 'data');
    await expect(extractTar(Readable.from([await tarOf({ a: 'x' })]), target)).rejects.toMatchObject({
      code: 'backup.extract-failed',
      shortMessage: expect.stringMatching(/^cannot unpack the backup: E(?:NOTDIR|EXIST)$/),
    });
  });
});

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
