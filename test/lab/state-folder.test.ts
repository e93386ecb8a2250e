import { mkdir, readdir, readFile, symlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type Home, openStateFolder, sweepHomes } from '../../src/lab/home.ts';
import { temporaryFolder } from './helpers.ts';

describe('the folder of a lab', () => {
  test('that holds any file of a user is refused and left alone, whatever its lab.json says', async () => {
    const marks = [
      '{"name":"my lab","home":"Berlin"}',
      'not json',
      '{"lifeboat":"lab","home":"/tmp/lifeboat-lab-gone","names":["lab.json"]}',
      '{"lifeboat":"lab","home":"/tmp/my-photos","names":["lab.json","thesis"]}',
    ];
    for (const mark of marks) {
      const folder = await temporaryFolder();
      await mkdir(join(folder, 'thesis'));
      await writeFile(join(folder, 'thesis', 'chapter'), 'precious');
      await writeFile(join(folder, 'lab.json'), mark);
      await expect(openStateFolder(folder, HOME, ['orders'])).rejects.toMatchObject({
        code: 'lab.folder',
        shortMessage: `the folder ${folder} is not empty`,
      });
      expect(await readFile(join(folder, 'thesis', 'chapter'), 'utf8')).toBe('precious');
    }
  });

  test('is cleared at the end of what the lab put there, and keeps everything else', async () => {
    const folder = await temporaryFolder();
    const opened = await openStateFolder(folder, HOME, ['orders']);
    for (const name of ['token', 'orders.key', 'notes', 'other.key'])
      await writeFile(join(folder, name), name);
    await opened.release();
    expect((await readdir(folder)).sort()).toEqual(['notes', 'other.key']);
  });

  test('with the remains of a killed lab is taken over', async () => {
    const folder = join(await temporaryFolder(), 'new');
    await openStateFolder(folder, HOME, ['orders']);
    await writeFile(join(folder, 'orders.key'), 'left over');
    const again = await openStateFolder(folder, HOME, ['orders']);
    expect(await readdir(folder)).toEqual(['lab.json']);
    await again.release();
  });

  test('that cannot be used is refused with the reason', async () => {
    const folder = await temporaryFolder();
    await writeFile(join(folder, 'file'), '');
    await symlink(join(folder, 'nowhere'), join(folder, 'link'));
    const refusal = async (path: string) =>
      openStateFolder(path, HOME, []).then(String, (error: Error) => error.message);
    expect(await refusal(join(folder, 'file'))).toContain('is not a folder');
    expect(await refusal(join(folder, 'a', 'b'))).toContain(
      `${join(folder, 'a')} does not exist or takes no folders`,
    );
    expect(await refusal('/proc/nope')).toMatch(/cannot be made/);
  });
});

const HOME: Home = {
  path: '/tmp/lifeboat-lab-none',
  engine: '/tmp/lifeboat-lab-none/pg',
  state: '/tmp/lifeboat-lab-none/state',
  release: async () => undefined,
};

test('a sweep removes an empty home that was never completed, and no folder with content', async () => {
  const root = await temporaryFolder();
  const [unfinished, precious] = ['lifeboat-lab-abcdef', 'lifeboat-lab-notes'].map((name) =>
    join(root, name),
  );
  const long = new Date(Date.now() - 3_600_000);
  for (const path of [unfinished, precious]) await mkdir(path ?? '');
  await writeFile(join(precious ?? '', 'lifeboat.yaml'), '');
  for (const path of [unfinished, precious]) await utimes(path ?? '', long, long);
  const before = process.env['TMPDIR'];
  process.env['TMPDIR'] = root;
  try {
    await sweepHomes(() => undefined);
  } finally {
    if (before === undefined) delete process.env['TMPDIR'];
    else process.env['TMPDIR'] = before;
  }
  expect(await readdir(root)).toEqual(['lifeboat-lab-notes']);
});
