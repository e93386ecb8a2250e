import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { openContent } from '../../src/backup/read-backup.ts';
import { Secret } from '../../src/base/secret.ts';
import { backupOf, KEY, makeFolder, noise } from './kit.ts';

const folder = makeFolder();

async function fileOf(bytes: Uint8Array): Promise<string> {
  const path = join(folder, `file-${(await readdir(folder)).length}`);
  await writeFile(path, bytes);
  return path;
}

test('a wrong key, a file that is no backup and a missing one fail before any byte flows', async () => {
  const path = await fileOf(await backupOf(noise(1000)));
  const noBackup = await fileOf(noise(500));
  const opening = [
    [() => openContent(path, { key: new Secret('no') }), 'backup.wrong-key'],
    [() => openContent(noBackup, { key: KEY }), 'backup.not-a-backup'],
    [() => openContent(join(folder, 'nowhere'), { key: KEY }), 'backup.unreadable'],
  ] as const;
  for (const [opened, code] of opening) await expect(opened()).rejects.toMatchObject({ code });
});

test('the stream fails where the file is damaged, with a hint that is safe to follow', async () => {
  const file = await backupOf(noise(3_000_000));
  const cut = await openContent(await fileOf(file.subarray(0, 2_000_000)), { key: KEY });
  await expect(buffer(cut)).rejects.toMatchObject({
    code: 'backup.truncated',
    hints: ['download the backup again: the copy on the service is not touched by this'],
  });
  file[2_000_000] = (file[2_000_000] ?? 0) ^ 1;
  const damaged = await openContent(await fileOf(file), { key: KEY });
  await expect(buffer(damaged)).rejects.toMatchObject({ code: 'backup.corrupt' });
});

test('a reader that goes away early closes the file', async () => {
  const path = await fileOf(await backupOf(noise(3_000_000)));
  const before = await openFiles();
  const content = await openContent(path, { key: KEY });
  for await (const chunk of content) {
    expect(chunk.length).toBeGreaterThan(0);
    break;
  }
  await expect.poll(openFiles).toBe(before);
});

async function openFiles(): Promise<number> {
  return (await readdir('/dev/fd')).length;
}
