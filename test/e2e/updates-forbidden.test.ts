import { describe, test } from 'vitest';
import type { Call, Trouble } from '../bench-kit/foreign/call.ts';
import { personAt } from '../bench-kit/person.ts';
import { hasTerminal, KEYS } from '../bench-kit/pseudo-terminal.ts';
import { openTerminal } from '../bench-kit/terminal.ts';
import { ANSWERED, type BenchOptions, type TestBench, useQuickBenches } from '../bench-kit/test-bench.ts';

const REFUSED: Trouble = {
  work: false,
  answer: { status: 403, body: { error: 'updatesForbidden', description: 'updates are forbidden' } },
};

describe.concurrent('maintenance updates of revision 61', { timeout: 600_000 }, () => {
  const bench = useQuickBenches();

  /** A service that installs no update while updates are forbidden. */
  async function honest(
    context: Parameters<typeof bench>[0],
    options: BenchOptions = {},
  ): Promise<TestBench> {
    const trouble = ({ path }: Call) =>
      path.endsWith('/updates') && opened.server.instance('orders').updateSetting?.allowed === false
        ? REFUSED
        : undefined;
    const opened = await bench(context, { revision: 61, trouble, ...options });
    return opened;
  }
  const change = (action: string) =>
    ['run', 'change-instance', '--instance', 'orders', '--action', action] as const;
  const settingsSent = ({ server }: TestBench) =>
    server.calls.filter(({ path }) => path.endsWith('/broker/edit'));

  test('are not forbidden first when the change installs them', async (context) => {
    const { expect } = context;
    const opened = await honest(context);
    const end = await opened.run(...change('update'), ...ANSWERED);
    expect(end.code, end.stderr).toBe(0);
    expect(opened.server.instance('orders').deployments).toEqual(['update']);
    expect(settingsSent(opened)).toEqual([]);
  });

  test.for(['update', 'restart'])(
    'that a person has forbidden on purpose stay forbidden after a run without a terminal: %s',
    async (action, context) => {
      const { expect } = context;
      const opened = await honest(context);
      const orders = opened.server.instance('orders');
      orders.updateSetting = { type: 'general', allowed: false };
      const end = await opened.run(...change(action), ...ANSWERED);
      expect(end.code, end.stderr).toBe(action === 'update' ? 3 : 0);
      expect(orders.updateSetting).toEqual({ type: 'general', allowed: false });
      expect(settingsSent(opened)).toEqual([]);
    },
  );

  test.runIf(hasTerminal())(
    'are forbidden during a restart where a person says that they were allowed, and then allowed again',
    async (context) => {
      const { expect } = context;
      const opened = await honest(context);
      const orders = opened.server.instance('orders');
      const terminal = openTerminal(opened.product, opened, [...change('restart')]);
      context.onTestFinished(() => terminal.close());
      const { asks, confirm, holdUpdatesBack, isGivenBack, type } = personAt(terminal, expect);
      await holdUpdatesBack();
      await asks("type the instance's name");
      expect(orders.updateSetting).toEqual({ type: 'general', allowed: false });
      await confirm();
      await asks('the restart of orders is done');
      await asks('Enter q close');
      expect(orders.updateSetting).toEqual({ type: 'general', allowed: true });
      type(KEYS.enter);
      await isGivenBack(0);
    },
  );
});
