import { afterAll, expect, onTestFinished, test } from 'vitest';
import { withApprovals } from '../bench-kit/approval-bench.ts';
import { builtProduct } from '../bench-kit/product.ts';
import { ANSWERED, openBench, ROTATE } from '../bench-kit/test-bench.ts';
import { closeDatabases, freshDatabase } from '../crash/database.ts';
import { describeWith } from '../keys/programs.ts';
import { fakeClock } from './faked-clock.ts';

const MINUTES = 60_000;
const IN_FLIGHT_MS = 3_000;

describeWith(['faketime'], 'a host whose clock is not the one of the database', () => {
  const product = builtProduct({ cheapVault: true });
  afterAll(closeDatabases);

  /** A request for a backup that reaches the service late, and whose answer is lost. */
  async function scene(minutes: number) {
    const database = await freshDatabase();
    onTestFinished(() => database.drop());
    const bench = await openBench(product, {
      store: database.address,
      taskMs: 200,
      inFlight: `${IN_FLIGHT_MS / 1000}s`,
      trouble: ({ method }) =>
        method === 'POST' ? { workAfterMs: IN_FLIGHT_MS / 2, answer: 'lost' } : undefined,
    });
    onTestFinished(() => bench.close());
    const { under } = fakeClock(bench, `${minutes < 0 ? '' : '+'}${minutes * 60}s`);
    const posts = () => bench.server.calls.filter(({ method }) => method === 'POST').length;
    return { bench, posts, start: (...args: string[]) => bench.startUnder(under, ...args) };
  }

  test.each([20, -20])(
    'waits no longer for a lost answer %i minutes ahead than without a difference, and sends nothing twice',
    async (minutes) => {
      const { bench, posts, start } = await scene(minutes);
      const end = await start(...ROTATE, ...ANSWERED).ended;
      const shown =
        /create a backup is not known: .*\n.*the service shows that the request to create a backup arrived/u;
      expect(end).toMatchObject({ code: 0, stderr: expect.stringMatching(shown) });
      expect(posts()).toBe(1);
      const entries = await bench.entries();
      const judged = entries.filter(({ type }) => type === 'intent.judged');
      expect(judged).toMatchObject([{ body: { verdict: 'landed' } }]);
      // The database has the true time.
      for (const { at } of entries) expect(Math.abs(Date.parse(at) - Date.now())).toBeLessThan(10 * MINUTES);
    },
  );

  test.each([20, -20])('waits with a command, %i minutes ahead, and says so', async (minutes) => {
    const { posts, start } = await scene(minutes);
    const end = await start('backups', 'create', '--instance', 'orders', '--yes').ended;
    expect(end).toMatchObject({ code: 0, stderr: expect.stringContaining('may still be done') });
    expect(posts()).toBe(1);
  });

  /**
   * A bench that asks Ada, and a way to run a command here, or on a host whose clock is some minutes ahead.
   */
  async function approvalScene(more = '') {
    const database = await freshDatabase();
    onTestFinished(() => database.drop());
    const open = async (_: unknown, options: Parameters<typeof openBench>[1]) => {
      const opened = await openBench(product, options);
      onTestFinished(() => opened.close());
      return opened;
    };
    const bench = await withApprovals(open, { onTestFinished }, { bench: { store: database.address }, more });
    const { under, set } = fakeClock(bench);
    const onHost = (minutes: number, ...args: string[]) => {
      set(`${minutes < 0 ? '' : '+'}${minutes * 60}s`);
      return bench.startUnder(under, ...args).ended;
    };
    return { bench, onHost };
  }

  test.each([
    [90, 0],
    [0, 90],
    [-90, 90],
  ])(
    'takes an approval within its hour by the clock of the database: asked %i minutes ahead, confirmed %i',
    async (asking, confirming) => {
      const { bench, onHost } = await approvalScene();
      expect(await onHost(asking, ...ROTATE, ...ANSWERED)).toMatchObject({ code: 3 });
      await bench.approve(bench.ada);
      expect(await onHost(confirming, 'approvals', '--json')).toMatchObject({
        code: 0,
        stdout: expect.stringContaining('"state":"given"'),
      });
      expect(await onHost(confirming, 'resume', ...ANSWERED)).toMatchObject({ code: 0 });
      const entries = await bench.entries();
      expect(entries.filter(({ type }) => type === 'approval.asked')).toHaveLength(1);
    },
  );

  test('rejects an approval that has expired by the clock of the database, on a host whose clock is behind it', async () => {
    const { bench, onHost } = await approvalScene(', expires: 1s');
    expect(await onHost(0, ...ROTATE, ...ANSWERED)).toMatchObject({ code: 3 });
    await bench.approve(bench.ada);
    const shown = async () => (await onHost(-90, 'approvals', '--json')).stdout;
    await expect.poll(shown, { timeout: 600_000 }).toContain('"state":"expired"');
    expect(await onHost(-90, 'resume', ...ANSWERED)).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('has expired'),
    });
    expect(bench.server.calls.filter(({ method }) => method !== 'GET')).toEqual([]);
  });
});
