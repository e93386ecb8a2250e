import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openToOthers } from '../../../src/commands/doctor/open-to-others.ts';

function place() {
  const folder = mkdtempSync(join(tmpdir(), 'lifeboat-open-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, 'approvers');
  writeFileSync(path, '', { mode: 0o600 });
  return { folder, path };
}

const saysOf = async (path: string) => (await openToOthers(path)).map(({ says }) => says);

describe.skipIf(process.platform === 'win32')('a file that others could change', () => {
  test('is not one that only its owner can write, in a folder that only its owner can write', async () => {
    const { path } = place();
    expect(await saysOf(path)).toEqual([]);
  });

  test.each([
    [0o620, ['its group can write it']],
    [0o602, ['everybody can write it']],
    [0o644, []],
  ] as const)('is found by its mode %o', async (mode, says) => {
    const { path } = place();
    chmodSync(path, mode);
    expect(await saysOf(path)).toEqual(says);
  });

  test.each([
    [0o770, ['its group can write its folder']],
    [0o777, ['everybody can write its folder']],
    [0o1777, []],
  ] as const)('is found by the mode %o of its folder, where files can be exchanged', async (mode, says) => {
    const { folder, path } = place();
    chmodSync(folder, mode);
    expect(await openToOthers(path)).toEqual(
      says.map((one) => ({ says: one, mend: `chmod go-w ${folder}` })),
    );
  });

  test('is found where a link to it lies, and where the link leads', async () => {
    const { folder, path } = place();
    const other = join(folder, 'other');
    mkdirSync(other, { mode: 0o700 });
    const link = join(other, 'link');
    symlinkSync(path, link);
    chmodSync(other, 0o777);
    chmodSync(path, 0o666);
    expect(await saysOf(link)).toEqual(['everybody can write it', 'everybody can write its folder']);
  });
});
