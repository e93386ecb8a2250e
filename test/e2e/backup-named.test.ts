import { describe, test } from 'vitest';
import { useQuickBenches } from '../bench-kit/test-bench.ts';

describe.concurrent('a run without a terminal that must ask which backup to restore', () => {
  const bench = useQuickBenches();

  test('names the flag and how to list the ids, and resume takes the answer', async (context) => {
    const { expect } = context;
    const home = await bench(context, {});
    const asked = await home.run('run', 'restore-backup', '--instance', 'orders', '--yes');
    expect(asked.code, asked.stderr).toBe(3);
    expect(asked.stderr).toContain('(--backup ID; `lifeboat backups list orders` shows the ids)');
    const unknown = await home.run('resume', '--yes', '--backup', '7');
    expect(unknown.code, unknown.stderr).toBe(3);
    expect(unknown.stderr).toContain('backup 7 is not among those offered');
    const named = await home.run('resume', '--yes', '--backup', '900041');
    expect(named.stderr).toContain('--confirm orders');
  });
});
