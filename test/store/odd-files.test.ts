import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { withLock } from '../../src/keys/lock.ts';
import { lockStream } from '../../src/store/sqlite/stream-lock.ts';
import { openIn, readIn } from './open-in.ts';
import { temporaryHome } from './temporary-home.ts';

const ODD: readonly (readonly [string, (path: string) => void])[] = [
  ['a folder', (path) => mkdirSync(path)],
  ['a pipe', (path) => void execFileSync('mkfifo', [path])],
];
const GARBAGE: readonly (readonly [string, (path: string) => void])[] = [
  ['a few bytes', (path) => writeFileSync(path, 'oops')],
  ['a page of something else', (path) => writeFileSync(path, Buffer.alloc(4096, 'x'))],
];

test.for(ODD)(
  'a journal whose database is %s is refused with the reason, without blocking',
  async ([, put]) => {
    const home = temporaryHome();
    put(join(home, 'lifeboat.db'));
    const refusal = {
      code: 'journal.home',
      shortMessage: expect.stringMatching(/: it is (?:a folder|not a plain file)$/),
    };
    await expect(openIn(home)).rejects.toMatchObject(refusal);
    await expect(readIn(home)).rejects.toMatchObject(refusal);
    await expect(openIn(home, { afterLoss: true })).rejects.toMatchObject(refusal);
  },
);

describe.for([...ODD, ...GARBAGE])('%s in place of a lock', ([, put]) => {
  test('of a stream is reported, and the lock can be taken once it is gone', () => {
    const home = temporaryHome();
    mkdirSync(join(home, 'locks'));
    const path = join(home, 'locks', 'run-a.lock.db');
    put(path);
    expect(() => lockStream(home, 'run/a', new Date())).toThrow(
      expect.objectContaining({ code: 'journal.lock', shortMessage: `${path} is not a lock file` }),
    );
    rmSync(path, { recursive: true });
    lockStream(home, 'run/a', new Date()).release();
  });

  test('of the keys is reported, and nothing is written until it is gone', async () => {
    const path = join(temporaryHome(), 'vault.age.lock');
    put(path);
    let worked = 0;
    const work = async () => (worked += 1);
    await expect(withLock(path, work, 0)).rejects.toMatchObject({
      code: 'keys.lock',
      shortMessage: `${path} is not a lock file`,
    });
    expect(worked).toBe(0);
    rmSync(path, { recursive: true });
    expect(await withLock(path, work, 0)).toBe(1);
  });
});
