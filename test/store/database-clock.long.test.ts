import { afterAll, expect, onTestFinished, test } from 'vitest';
import { closeDatabases, freshDatabase } from '../crash/database.ts';
import { ANSWERED, openHouse, ROTATE } from '../e2e/house.ts';
import { builtProduct } from '../e2e/product.ts';
import { describeWith } from '../keys/programs.ts';
import { fakeClock } from './faked-clock.ts';

const MINUTES = 60_000;
const SETTLE_MS = 3_000;

describeWith(['faketime'], 'a host whose clock is not the one of the database', () => {
  const product = builtProduct({ cheapVault: true });
  afterAll(closeDatabases);

  /** A request for a backup that reaches the service late, and whose answer is lost. */
  async function scene(minutes: number) {
    const database = await freshDatabase();
    onTestFinished(() => database.drop());
    const house = await openHouse(product, {
      store: database.address,
      taskMs: 200,
      settle: `${SETTLE_MS / 1000}s`,
      trouble: ({ method }) =>
        method === 'POST' ? { workAfterMs: SETTLE_MS / 2, answer: 'lost' } : undefined,
    });
    onTestFinished(() => house.close());
    const { under } = fakeClock(house, `${minutes < 0 ? '' : '+'}${minutes * 60}s`);
    const posts = () => house.server.calls.filter(({ method }) => method === 'POST').length;
    return { house, posts, start: (...args: string[]) => house.startUnder(under, ...args) };
  }

  test.each([20, -20])(
    'waits for a lost answer as long as any other, %i minutes ahead, and sends nothing twice',
    async (minutes) => {
      const { house, posts, start } = await scene(minutes);
      const end = await start(...ROTATE, ...ANSWERED).ended;
      const shown = /the answer was lost.*\n.*the service shows that createBackup landed/u;
      expect(end).toMatchObject({ code: 0, stderr: expect.stringMatching(shown) });
      expect(posts()).toBe(1);
      const entries = await house.entries();
      const judged = entries.filter(({ type }) => type === 'intent.judged');
      expect(judged).toMatchObject([{ body: { verdict: 'landed' } }]);
      // The database goes by the true time.
      for (const { at } of entries) expect(Math.abs(Date.parse(at) - Date.now())).toBeLessThan(10 * MINUTES);
    },
  );

  test.each([20, -20])('waits with a command, %i minutes ahead, and says so', async (minutes) => {
    const { posts, start } = await scene(minutes);
    const end = await start('backups', 'create', '--instance', 'orders', '--yes').ended;
    expect(end).toMatchObject({ code: 0, stderr: expect.stringContaining('may still be done') });
    expect(posts()).toBe(1);
  });
});
