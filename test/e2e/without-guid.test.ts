import { describe, test } from 'vitest';
import { useQuickBenches } from '../bench-kit/test-bench.ts';

describe.concurrent('a preparation that the service accepts without giving a guid', () => {
  const bench = useQuickBenches();

  test('is requested once, and is not a success', async (context) => {
    const { expect } = context;
    const { run, server } = await bench(context, {
      trouble: ({ path }) => (path.endsWith('/prepare') ? { answer: { status: 200, body: {} } } : undefined),
    });
    const end = await run('dr', 'prepare', '--instance', 'orders', '--yes');
    expect(end.code, end.stderr).toBe(1);
    expect(end.stderr).toContain('the service gave no guid for the backups');
    expect(server.calls.filter(({ path }) => path.endsWith('/prepare'))).toHaveLength(1);
  });
});
