import { execFileSync, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { TooSlow, within, withinOrSilent } from '../../src/base/patience.ts';
import { temporaryHome } from '../store/temporary-home.ts';

test('a result that comes in time is returned, and so is a rejection', async () => {
  expect(await within(60_000, async () => 5)).toBe(5);
  await expect(within(60_000, () => Promise.reject(new Error('torn')))).rejects.toThrow('torn');
});

test('a result that does not come in time is not awaited', async () => {
  await expect(within(10, () => new Promise(() => undefined))).rejects.toThrow(
    new TooSlow('no answer within 0.01 s'),
  );
});

test('nothing else is begun while a call is stuck, and everything again once it has returned', async () => {
  const inTime = withinOrSilent(10, 'it has not answered yet');
  const { promise: stuck, resolve } = Promise.withResolvers<number>();
  await expect(inTime(() => stuck)).rejects.toThrow(new TooSlow('no answer within 0.01 s'));
  let begun = false;
  const next = async () => {
    begun = true;
    return 5;
  };
  await expect(inTime(next)).rejects.toThrow(new TooSlow('it has not answered yet'));
  expect(begun).toBe(false);
  resolve(1);
  await stuck;
  expect(await inTime(next)).toBe(5);
});

test('a process ends with its exit code even while one of its threads is stuck in a dead file system', () => {
  const pipe = join(temporaryHome(), 'pipe');
  execFileSync('mkfifo', [pipe]);
  const [patience, leave] = ['patience', 'own-program'].map((name) =>
    JSON.stringify(join(import.meta.dirname, `../../src/base/${name}.ts`)),
  );
  // A pipe without a writer: opening it blocks like opening a file on a dead mount.
  const script = `
    import { open } from 'node:fs/promises';
    import { within } from ${patience};
    import { leave } from ${leave};
    process.on('exit', (code) => console.log('leaving', code));
    await within(50, () => open(${JSON.stringify(pipe)}, 'r')).catch((thrown) => console.log(thrown.message));
    leave(5);
  `;
  const ended = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
    timeout: 300_000,
    encoding: 'utf8',
  });
  expect(ended).toMatchObject({ status: 5, stdout: 'no answer within 0.05 s\nleaving 5\n' });
});
