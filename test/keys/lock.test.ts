import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { withLock } from '../../src/keys/lock.ts';

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'lifeboat-lock-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

describe('the lock between writers of keys', () => {
  it('admits one writer at a time, and admits the next if the work failed', async () => {
    const path = join(folder, 'home', 'keys.lock');
    let inside = 0;
    let most = 0;
    const work = async () => {
      inside += 1;
      most = Math.max(most, inside);
      await readdir(folder);
      inside -= 1;
      throw new Error('failed');
    };
    const outcomes = await Promise.allSettled([1, 2, 3, 4].map(() => withLock(path, work)));
    expect(outcomes.map(({ status }) => status)).toEqual(Array(4).fill('rejected'));
    expect(most).toBe(1);
  });

  it('gives up when it is held for too long, and says what is locked', async () => {
    const path = join(folder, 'keys.lock');
    const free = Promise.withResolvers<void>();
    const inside = Promise.withResolvers<void>();
    const held = withLock(path, () => {
      inside.resolve();
      return free.promise;
    });
    await inside.promise;
    let wasRun = false;
    const second = withLock(
      path,
      async () => {
        wasRun = true;
      },
      50,
    );
    await expect(second).rejects.toMatchObject({
      code: 'keys.busy',
      shortMessage: `another lifeboat process is writing keys: ${path} is locked`,
    });
    free.resolve();
    await held;
    expect(wasRun).toBe(false);
  });

  it('says when the lock cannot be created at all', async () => {
    await writeFile(join(folder, 'file'), '');
    const locked = withLock(join(folder, 'file', 'keys.lock'), async () => 'never');
    await expect(locked).rejects.toMatchObject({ code: 'keys.io' });
    await writeFile(join(folder, 'not-a-lock'), 'x'.repeat(4096));
    const strange = withLock(join(folder, 'not-a-lock'), async () => 'never');
    await expect(strange).rejects.toMatchObject({ code: 'keys.lock' });
  });
});
