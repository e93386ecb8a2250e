import { describe, test } from 'vitest';
import { outputOf } from '../bench-kit/entries-of.ts';
import { changes, useQuickBenches } from '../bench-kit/test-bench.ts';

const SURE = ['--instance', 'orders', '--yes', '--confirm', 'orders'] as const;

describe.concurrent('a proxy that sends each restore twice', () => {
  const bench = useQuickBenches();

  test('is reported on screen and in the report, and nothing relies on the first restore while the second is in progress', async (context) => {
    const { expect } = context;
    const home = await bench(context, {
      trouble: async ({ method, path }) => {
        if (method !== 'POST' || !path.endsWith('/restore')) return undefined;
        const { server } = home;
        const backup = server.backups.find((one) => path.includes(`/${one.id}/`));
        if (backup !== undefined)
          await server.instance('orders').restore(backup, backup.file?.key ?? '', { ms: 1_500 });
        return undefined;
      },
    });
    const { server, run, entries } = home;
    const id = String(server.backups.at(-1)?.id);
    const { code, stdout, stderr } = await run('run', 'restore-backup', ...SURE, '--backup', id);
    expect(code, stderr).toBe(0);
    expect(changes(server)).toMatchObject({ posts: 3 });
    const { restores } = server.instance('orders');
    expect(restores).toHaveLength(2);
    const journal = await entries();
    const waited = outputOf(journal, 'waitForRestore') as { id: number; beside?: unknown };
    const other = restores.find((one) => one.id !== waited.id);
    expect(waited.beside).toMatchObject([{ id: other?.id, status: 'done' }]);
    expect(`${stdout}${stderr}`).toContain(`restore ${other?.id}`);
    const report = await run('report', 'last', '--format', 'md');
    expect(report.stdout, report.stderr).toContain(`${other?.id} (done)`);
  });
});
