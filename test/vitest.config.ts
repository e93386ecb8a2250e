import { accessSync, constants, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';

/**
 * Plain Vitest: real processes need time on a busy two-core machine, so the limits are generous. What takes ten seconds and
 * more (files `*.long.test.ts`) has a run of its own, so that the others stay short enough to be run at every change.
 */
export const settings = {
  testTimeout: 60_000,
  hookTimeout: 60_000,
  pool: 'forks' as const,
  // Most tests wait for processes of their own: leaving a core free, as is the default, would leave it idle.
  maxWorkers: Math.max(2, availableParallelism()),
  env: { TMPDIR: quickFolder() },
};

export default defineConfig({
  test: {
    ...settings,
    include: ['test/**/*.test.{ts,tsx}'],
    exclude: ['test/bench/**', 'test/crash/**', 'test/**/*.long.test.ts'],
  },
});

/**
 * A temporary folder in memory where there is one that is large and lets programs run: each database is a thousand small files, and
 * a file system may need half a millisecond to create one (ext4 without a journal does not reuse an inode for a while).
 */
function quickFolder(): string {
  const folder = '/dev/shm';
  const probe = join(folder, `lifeboat-probe-${process.pid}`);
  try {
    const { bavail, bsize } = statfsSync(folder);
    if (bavail * bsize < 4 * 2 ** 30) return tmpdir();
    writeFileSync(probe, '', { mode: 0o700, flag: 'wx' });
    // Refused where the mount forbids programs, whatever the mode says.
    accessSync(probe, constants.X_OK);
    return folder;
  } catch {
    return tmpdir();
  } finally {
    rmSync(probe, { force: true });
  }
}
