import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { checkLog } from '../../src/store/log/check-log.ts';
import { homePlace } from '../../src/store/log/places/folder-place.ts';
import { createSealer } from '../../src/store/log/sealer.ts';
import { builtProduct } from '../bench-kit/product.ts';
import { ANSWERED, openBench, type TestBench } from '../bench-kit/test-bench.ts';
import { canMount, goOnAfter } from './disk-trouble.ts';
import { freshSigner } from './fresh-signer.ts';
import { openIn, readIn } from './open-in.ts';
import { temporaryHome } from './temporary-home.ts';

const product = builtProduct({ cheapVault: true });

const note = { stream: 'run/a', type: 'note', body: null } as const;
const isChange = ({ method }: { readonly method: string }) => method !== 'GET';

/** A bench whose home is changed when the request for a backup arrives. */
async function benchWith(atPost: (bench: TestBench) => void): Promise<TestBench> {
  let happened = false;
  const bench: TestBench = await openBench(product, {
    taskMs: 1,
    trouble: ({ method }) => {
      if (method !== 'POST' || happened) return undefined;
      happened = true;
      atPost(bench);
      return undefined;
    },
  });
  onTestFinished(() => bench.close());
  return bench;
}

test('a home that is removed during a run stops it at once, with the reason', async () => {
  const bench = await benchWith(({ home }) => rmSync(home, { recursive: true }));
  const end = await bench.rotate();
  expect(end).toMatchObject({
    code: 3,
    stderr: expect.stringContaining('was deleted or replaced while it was in use'),
  });
  expect(bench.server.calls.filter(isChange).map(({ method }) => method)).toEqual(['PATCH', 'POST']);
  expect(existsSync(join(bench.home, 'lifeboat.db'))).toBe(false);
});

test('a database that is removed during a run is not recreated by the next one', async () => {
  const bench = await benchWith(({ home }) => rmSync(join(home, 'lifeboat.db')));
  expect(await bench.rotate()).toMatchObject({ code: 3 });
  const calls = bench.server.calls.length;
  const ends = [await bench.rotate(), await bench.run('resume', ...ANSWERED), await bench.run('runs')];
  for (const { stderr } of ends) expect(stderr).toContain('is empty or gone, but there was one');
  expect(ends.map(({ code }) => code)).toEqual([5, 5, 1]);
  expect(bench.server.calls).toHaveLength(calls);
});

// Mounting needs rights that not every machine grants.
describe.runIf(canMount())('on a disk of its own', () => {
  test('that fills up during a run, the run ends with a clear error, and continues once there is space', async () => {
    const bench = await benchWith(({ home }) => fill(home));
    mountSmall(bench.home, '96m');
    const end = await bench.rotate();
    expect(end).toMatchObject({ code: 1, stderr: expect.stringContaining('the disk is full') });
    rmSync(join(bench.home, 'filler'));
    expect(await goOnAfter(bench, end)).toEqual({ broken: [], waits: false });
  });

  test('that is full from the start, nothing begins', async () => {
    const bench = await openBench(product, { taskMs: 1 });
    onTestFinished(() => bench.close());
    mountSmall(bench.home, '1m');
    fill(bench.home);
    expect(await bench.rotate()).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^lifeboat: cannot .*: the disk is full$/mu),
    });
    expect(bench.server.calls).toEqual([]);
  });

  test('that is read-only, everything can still be read, and nothing begins', async () => {
    const [home, signer] = [temporaryHome(), freshSigner()];
    const journal = await openIn(home, { signer });
    await journal.append([note, note], [await journal.hold('run/a')]);
    await createSealer(journal, { signer, places: [homePlace(home)] }).sealNow();
    await journal.close();
    mountReadOnly(home);
    const reader = await readIn(home);
    expect(await reader.read('run/a')).toHaveLength(2);
    expect(await Array.fromAsync(reader.log.stored())).toHaveLength(3);
    expect(await checkLog(reader, [homePlace(home)])).toMatchObject({ trouble: undefined, warnings: [] });
    await reader.close();
    await expect(openIn(home)).rejects.toMatchObject({
      code: 'journal.home',
      shortMessage: `${join(home, 'lifeboat.db')} cannot be opened: the disk is read-only`,
    });
  });

  test('that is read-only with an unmerged log, the error says how the journal can still be read', async () => {
    const home = temporaryHome();
    const journal = await openIn(home);
    await journal.append([note], [await journal.hold('run/a')]);
    const copy = temporaryHome();
    cpSync(home, copy, { recursive: true, filter: (path) => !path.endsWith('-shm') });
    await journal.close();
    mountReadOnly(copy);
    await expect(readIn(copy)).rejects.toMatchObject({
      code: 'journal.home',
      hints: expect.arrayContaining([expect.stringContaining('copy its folder elsewhere')]),
    });
  });
});

test.runIf(process.getuid?.() === 0)('a home of another user is refused and left alone', () => {
  const home = temporaryHome();
  const other = ['--reuid=65534', '--regid=65534', '--clear-groups'];
  const appender = [process.execPath, join(import.meta.dirname, 'appender.ts'), home, '1'];
  const { stderr } = spawnSync('setpriv', [...other, ...appender], { encoding: 'utf8' });
  expect(stderr).toContain('lifeboat.db cannot be opened: it is not allowed');
  expect(existsSync(join(home, 'lifeboat.db'))).toBe(false);
});

/** Mounts a disk of this size over a folder, with the folder's contents. */
function mountSmall(folder: string, size: string): void {
  const copy = temporaryHome();
  cpSync(folder, copy, { recursive: true });
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${size},mode=700`, 'none', folder]);
  onTestFinished(() => void execFileSync('umount', ['--lazy', folder]));
  cpSync(copy, folder, { recursive: true });
}

function mountReadOnly(folder: string): void {
  execFileSync('mount', ['--bind', folder, folder]);
  onTestFinished(() => void execFileSync('umount', ['--lazy', folder]));
  execFileSync('mount', ['-o', 'remount,ro,bind', folder]);
}

/** Fills the disk to the last byte. */
function fill(folder: string): void {
  mkdirSync(folder, { recursive: true });
  for (const size of [4_194_304, 4_096, 1]) {
    try {
      for (;;) writeFileSync(join(folder, 'filler'), Buffer.alloc(size), { flag: 'a' });
    } catch {
      // Full for blocks of this size.
    }
  }
}
