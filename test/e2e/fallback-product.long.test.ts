import { mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'vitest';
import { CANARIES } from '../bench-kit/canaries.ts';
import { followFallback, recorder } from '../bench-kit/follow-fallback.ts';
import { changes, type TestBench, useQuickBenches } from '../bench-kit/test-bench.ts';
import { until } from '../lab/helpers.ts';

const DO_IT = '';
const HAND_DONE = '';
const { token } = CANARIES;

describe('the fallback script that a run leaves on disk', () => {
  const bench = useQuickBenches();

  test('is there when the run waits for a name, is private, and continues from there', async (context) => {
    const { expect } = context;
    const home = await bench(context);
    const left = await home.run('run', 'rotate-key', '--instance', 'orders', '--yes');
    expect(left.code, left.stderr).toBe(3);
    const { text, mode } = fallbackIn(home);
    expect(mode).toBe(0o600);
    const keys = await home.vault();
    for (const secret of [...keys.values(), ...Object.values(CANARIES)]) expect(text).not.toContain(secret);

    const fresh = [...keys.values()].find((key) => key !== CANARIES.oldKey) ?? '';
    const answers = [DO_IT, fresh, token, 'orders', DO_IT, 'yes', DO_IT, DO_IT, HAND_DONE];
    const { code, screen } = await followFallback(text, answers, { folder: emptyFolder(home) });
    expect(code, screen).toBe(0);
    expect(screen).toContain('readable: 4 entries in its tar');
    expect(home.server.keys.at(-1)).toBe(fresh);
    expect(changes(home.server)).toEqual({ patches: 1, posts: 1, patchesDone: 1, postsDone: 1 });
  });

  test('continues when the process died after sending its only request for a backup', async (context) => {
    const { expect } = context;
    const home = await bench(context, {
      trouble: ({ method, path }) =>
        method === 'POST' && path.endsWith('/backups') ? { task: { ms: 1_500 } } : undefined,
    });
    const running = home.start('run', 'rotate-key', '--instance', 'orders', '--yes', '--confirm', 'orders');
    await until('a backup was asked for', async () => changes(home.server).postsDone === 1 || undefined);
    running.child.kill('SIGKILL');
    await running.ended;

    const { text } = fallbackIn(home);
    const isKnown = !text.includes('once instance POST');
    const keys = await home.vault();
    const fresh = [...keys.values()].find((key) => key !== CANARIES.oldKey) ?? '';
    const begun = isKnown ? [DO_IT, token] : [DO_IT, token, '1', `${await newestBackup(home)}`];
    const answers = [...begun, DO_IT, fresh, DO_IT, HAND_DONE];
    const { code, screen } = await followFallback(text, answers, { folder: emptyFolder(home) });
    expect(code, screen).toBe(0);
    expect(screen).toContain('readable: 4 entries in its tar');
    expect(changes(home.server)).toEqual({ patches: 1, posts: 1, patchesDone: 1, postsDone: 1 });
  });
});

describe('the fallback script of a recovery', () => {
  const bench = useQuickBenches();

  test('continues where a restore in place waits for the name', async (context) => {
    const { expect } = context;
    const home = await bench(context);
    const id = await newestBackup(home);
    const left = await home.run(
      'run',
      'restore-backup',
      '--instance',
      'orders',
      '--backup',
      `${id}`,
      '--yes',
    );
    expect(left.code, left.stderr).toBe(3);
    const { bin } = recorder(home.folder, 'cf');
    const answers = [
      ...[DO_IT, token, 'orders', 'yes'],
      DO_IT,
      ...[DO_IT, HAND_DONE],
      ...[DO_IT, 'yes'],
      ...[DO_IT, HAND_DONE],
    ];
    const posts = changes(home.server).postsDone;
    const { code, screen } = await followFallback(fallbackIn(home).text, answers, {
      folder: emptyFolder(home),
      bin,
    });
    expect(code, screen).toBe(0);
    expect(screen).toContain('That was the last step.');
    expect(changes(home.server).postsDone - posts).toBe(2);
    expect(home.server.calls.filter(({ path }) => path.endsWith(`/backups/${id}/restore`))).toHaveLength(1);
  });
});

/** The only fallback script of a home. */
function fallbackIn({ home }: TestBench): { readonly text: string; readonly mode: number } {
  const [name = ''] = readdirSync(join(home, 'fallback'));
  const path = join(home, 'fallback', name);
  return { text: readFileSync(path, 'utf8'), mode: statSync(path).mode & 0o777 };
}

async function newestBackup({ server }: TestBench): Promise<number> {
  const list = `${server.urlOf('orders').replace('service-instances', 'v1/instances')}/backups`;
  const answer = await fetch(list, { headers: { authorization: `bearer ${token}` } });
  const ids = ((await answer.json()) as { id: number }[]).map(({ id }) => id);
  return Math.max(...ids);
}

/** A folder of its own: from here on nothing of the bench is used. */
function emptyFolder({ folder }: TestBench): string {
  const path = join(folder, 'by-hand');
  mkdirSync(path);
  return path;
}
