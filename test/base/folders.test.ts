import { existsSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { makePrivateFolder, makeSharedFolder } from '../../src/base/folders.ts';

/** Linux answers ENOENT here, though the folder above is there. */
const NOWHERE = '/proc/lifeboat/home';

function place(): string {
  const folder = mkdtempSync(join(tmpdir(), 'lifeboat-folders-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

describe.each([
  ['for its owner', async (path: string) => makePrivateFolder(path)],
  ['that is shared', makeSharedFolder],
])('a folder %s', (_, make) => {
  test('is made together with its parents, and an existing folder stays unchanged', async () => {
    const above = join(place(), 'a');
    const path = join(above, 'b', 'c');
    const first = await make(path);
    if (make === makeSharedFolder) expect(first).toBe(above);
    else expect(statSync(above).mode & 0o777).toBe(0o700);
    expect(existsSync(path)).toBe(true);
    expect(await make(path)).toBeUndefined();
  });

  test('is refused with the error of the system where a file or a broken link is in its way', async () => {
    const folder = place();
    writeFileSync(join(folder, 'file'), '');
    symlinkSync(join(folder, 'nothing'), join(folder, 'link'));
    await expect(async () => await make(join(folder, 'file', 'a'))).rejects.toThrow('ENOTDIR');
    await expect(async () => await make(join(folder, 'file'))).rejects.toThrow('EEXIST');
    await expect(async () => await make(join(folder, 'link'))).rejects.toThrow('EEXIST');
  });

  test.runIf(existsSync('/proc/self/stat'))('is refused where the file system takes no folders', async () => {
    await expect(async () => await make(NOWHERE)).rejects.toMatchObject({
      code: 'file.failed',
      shortMessage: 'the folder /proc/lifeboat cannot be made: its file system takes no folders',
    });
  });
});
