import {
  chmodSync,
  chownSync,
  closeSync,
  existsSync,
  lchownSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  renameSync,
  rmSync,
  type Stats,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { readBounded, readPlainFile } from '../../src/base/bounded-file.ts';
import {
  assertOwnHome,
  assertTrusted,
  distrustOf,
  hasNobodyElse,
  makeFolderInside,
} from '../../src/base/trusted-path.ts';

function place() {
  const folder = mkdtempSync(join(tmpdir(), 'lifeboat-open-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, 'approvers');
  writeFileSync(path, '', { mode: 0o600 });
  return { folder, path };
}

const saysOf = (path: string) => distrustOf(path).map(({ says }) => says);

const isRoot = process.getuid?.() === 0;
/** Not a user who runs tests. */
const OTHER = 65_533;

describe.skipIf(process.platform === 'win32')('a file that others could change', () => {
  test('is not one that only its owner can write, in a folder that only its owner can write', () => {
    const { path } = place();
    expect(saysOf(path)).toEqual([]);
  });

  test.each([
    [0o602, ['everybody can write it']],
    [0o644, []],
  ] as const)('is found by its mode %o', (mode, says) => {
    const { path } = place();
    chmodSync(path, mode);
    expect(saysOf(path)).toEqual(says);
  });

  test('is never a device whose permissions should be changed', () => {
    expect(distrustOf('/dev/null').map(({ fix }) => fix)).toEqual([expect.not.stringContaining('chmod')]);
  });

  test.each([
    [0o777, ['everybody can write its folder']],
    [0o1777, []],
  ] as const)('is found by the mode %o of its folder, in which files can be exchanged', (mode, says) => {
    const { folder, path } = place();
    chmodSync(folder, mode);
    expect(distrustOf(path)).toEqual(says.map((one) => ({ says: one, fix: `chmod go-w ${folder}` })));
  });

  test('is found where a link to it lies, and where the link leads', () => {
    const { folder, path } = place();
    const other = join(folder, 'other');
    mkdirSync(other, { mode: 0o700 });
    const link = join(other, 'link');
    symlinkSync(path, link);
    chmodSync(other, 0o777);
    chmodSync(path, 0o666);
    expect(saysOf(link)).toEqual(['everybody can write it', 'everybody can write its folder']);
  });

  test('is trusted if its group has no other member, as files are created with umask 002', () => {
    const { folder, path } = place();
    chmodSync(path, 0o664);
    chmodSync(folder, 0o775);
    const group = `own:x:${process.getgid?.()}:`;
    const isOwn = hasNobodyElse(process.getgid?.() ?? 0, process.getuid?.() ?? 0, [], [group]);
    expect(isOwn).toBe(true);
    if (isRoot) expect(saysOf(path)).toEqual([]);
  });

  test.each([
    ['with nobody in it', 'ada:x:1000:1000::/:', 'ada:x:1000:', true],
    ['with its owner and root in it', 'ada:x:1000:1000::/:\nroot:x:0:0::/:', 'ada:x:1000:ada,root', true],
    ['with somebody else in it', 'ada:x:1000:1000::/:', 'ada:x:1000:bob', false],
    [
      'that is the first group of somebody else',
      'ada:x:1000:1000::/:\nbob:x:1001:1000::/:',
      'ada:x:1000:',
      false,
    ],
    ['that the lists do not know, with the number of the user', '', 'root:x:0:', true],
  ])('a group %s: %s, %s', (_, passwd, group, isOwn) => {
    expect(hasNobodyElse(1000, 1000, passwd.split('\n'), [group])).toBe(isOwn);
  });

  test('a group that the lists do not know, with another number, may include anybody', () => {
    expect(hasNobodyElse(100, 1000, [], [])).toBe(false);
  });

  test.runIf(isRoot)('is found by its group, and by that of its folder, if they are not your own', () => {
    const { folder, path } = place();
    chownSync(path, 0, OTHER);
    chmodSync(path, 0o660);
    chownSync(folder, 0, OTHER);
    chmodSync(folder, 0o770);
    expect(distrustOf(path)).toEqual([
      { says: 'its group can write it', fix: `chmod go-w ${path}` },
      { says: 'its group can write its folder', fix: `chmod go-w ${folder}` },
    ]);
  });

  test.runIf(isRoot).each([
    ['it', 'approvers'],
    ['its folder', '.'],
  ])('is found by a foreign owner: %s', (what, name) => {
    const { folder, path } = place();
    chownSync(join(folder, name), OTHER, OTHER);
    expect(saysOf(path)).toEqual([`${what} belongs to another user (${OTHER})`]);
  });

  test.runIf(isRoot)(
    'is found where a link of another owner leads to it, also out of a folder like /tmp',
    () => {
      const { folder, path } = place();
      const shared = join(folder, 'shared');
      mkdirSync(shared);
      chmodSync(shared, 0o1777);
      const link = join(shared, 'link');
      symlinkSync(path, link);
      expect(saysOf(link)).toEqual([]);
      lchownSync(link, OTHER, OTHER);
      expect(saysOf(link)).toEqual([`a link to it belongs to another user (${OTHER})`]);
    },
  );

  test('is judged by the opened file: a file that takes its place is not trusted instead', async () => {
    const { folder, path } = place();
    const other = join(folder, 'other');
    writeFileSync(other, '', { mode: 0o600 });
    let says: readonly string[] = [];
    await readBounded(path, 10, (opened) => {
      renameSync(other, path);
      says = distrustOf(path, opened).map((one) => one.says);
    });
    expect(says).toEqual(['another file took its place while it was opened']);
  });

  /** What both readers make of a file over which another one is renamed, once for each of `modes`. */
  async function readWhileReplaced(modes: readonly number[]) {
    const at = () => {
      const { folder, path } = place();
      let looks = 0;
      const look = (opened: Stats) => {
        const mode = modes[looks];
        looks += 1;
        if (mode !== undefined) {
          const other = join(folder, 'other');
          writeFileSync(other, `file ${looks}`);
          chmodSync(other, mode);
          renameSync(other, path);
        }
        assertTrusted('file', path, opened);
      };
      return [path, 99, look] as const;
    };
    const why = (thrown: Error) => thrown.message.replace(/\S*approvers/u, 'FILE');
    const plainly = async () => readPlainFile(...at());
    return [await readBounded(...at()).then(String, why), await plainly().then(String, why)];
  }

  test('is read as the new file if another one is renamed over it while it is opened', async () => {
    expect(await readWhileReplaced([0o600])).toEqual(['file 1', 'file 1']);
    expect(await readWhileReplaced([0o600, 0o600])).toEqual(['file 2', 'file 2']);
  });

  test('is abandoned if another one is renamed over it each time it is opened', async () => {
    const given = 'the file FILE is not used: another file took its place while it was opened';
    expect(await readWhileReplaced(Array(99).fill(0o600))).toEqual([given, given]);
  });

  test('is not read if one that others can write is renamed over it', async () => {
    const given = 'the file FILE is not used: everybody can write it';
    expect(await readWhileReplaced([0o602])).toEqual([given, given]);
  });

  test('is not read while others can write it, whatever is renamed over it', async () => {
    const { folder, path } = place();
    chmodSync(path, 0o602);
    let looks = 0;
    const reading = readBounded(path, 99, (opened) => {
      looks += 1;
      writeFileSync(join(folder, 'other'), 'other', { mode: 0o600 });
      renameSync(join(folder, 'other'), path);
      assertTrusted('file', path, opened);
    });
    await expect(reading).rejects.toThrow('everybody can write it, another file took its place');
    expect(looks).toBe(1);
  });

  test.skipIf(process.platform === 'darwin')(
    'may be handed over as an open pipe or by its number',
    async () => {
      const { path } = place();
      const file = openSync(path, 'r');
      try {
        let says: readonly string[] | undefined;
        await readBounded(`/dev/fd/${file}`, 10, (opened) => {
          says = distrustOf(`/dev/fd/${file}`, opened).map((one) => one.says);
        });
        expect(says).toEqual([]);
      } finally {
        closeSync(file);
      }
    },
  );

  test('is reported as missing if it does not exist', () => {
    const { folder } = place();
    expect(() => distrustOf(join(folder, 'none'))).toThrow(expect.objectContaining({ code: 'ENOENT' }));
  });
});

describe.skipIf(process.platform === 'win32')('a home', () => {
  test('must be a folder: for a file, a device or a link to one, no change of permissions is suggested', () => {
    const { folder, path } = place();
    const link = join(folder, 'link');
    symlinkSync('/dev/null', link);
    for (const home of [path, '/dev/null', link])
      expect(() => assertOwnHome(home)).toThrow(
        expect.objectContaining({
          shortMessage: `the home ${home} is not a folder`,
          hints: [expect.stringContaining('LIFEBOAT_HOME')],
        }),
      );
  });

  const refused = (says: string) =>
    expect.objectContaining({
      code: 'trust.refused',
      exitCode: 2,
      shortMessage: expect.stringContaining(says),
    });

  test('that others can write is refused, even before it is created', () => {
    const { folder } = place();
    expect(() => assertOwnHome(folder)).not.toThrow();
    expect(() => assertOwnHome(join(folder, 'a', 'b'))).not.toThrow();
    chmodSync(folder, 0o777);
    expect(() => assertOwnHome(folder)).toThrow(refused('everybody can write it'));
    expect(() => assertOwnHome(join(folder, 'a', 'b'))).toThrow(
      refused('everybody can write the folder above it'),
    );
    expect(existsSync(join(folder, 'a'))).toBe(false);
  });

  test('may be a link, but nothing inside it may be one', () => {
    const { folder } = place();
    const link = `${folder}-link`;
    symlinkSync(folder, link);
    onTestFinished(() => rmSync(link));
    expect(() => assertOwnHome(link)).not.toThrow();
    symlinkSync(tmpdir(), join(folder, 'backups'));
    expect(() => assertOwnHome(link)).toThrow(refused('it is a symbolic link inside the home'));
  });

  test('gets no folder through a link, at any depth', () => {
    const { folder } = place();
    const elsewhere = join(folder, 'elsewhere');
    mkdirSync(elsewhere);
    makeFolderInside(folder, join(folder, 'checkpoints', 'instance', 'orders'));
    symlinkSync(elsewhere, join(folder, 'checkpoints', 'run'));
    expect(() => makeFolderInside(folder, join(folder, 'checkpoints', 'run', 'x'))).toThrow(
      refused('it is a symbolic link inside the home'),
    );
    expect(existsSync(join(elsewhere, 'x'))).toBe(false);
  });

  test.runIf(isRoot)(
    "of another user is refused, even to root, and so is another user's folder inside it",
    () => {
      const { folder } = place();
      const inside = join(folder, 'checkpoints');
      mkdirSync(inside);
      chownSync(inside, OTHER, OTHER);
      expect(() => assertOwnHome(folder)).toThrow(refused(`it belongs to another user (${OTHER})`));
      chownSync(inside, 0, 0);
      chownSync(folder, OTHER, OTHER);
      expect(() => assertOwnHome(folder)).toThrow(refused(`it belongs to another user (${OTHER})`));
    },
  );
});
