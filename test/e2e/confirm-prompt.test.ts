import { describe, test } from 'vitest';
import { personAt } from '../bench-kit/person.ts';
import { hasTerminal } from '../bench-kit/pseudo-terminal.ts';
import { openTerminal } from '../bench-kit/terminal.ts';
import { changes, useQuickBenches } from '../bench-kit/test-bench.ts';

describe.skipIf(!hasTerminal()).concurrent('a change that asks in a terminal', () => {
  const bench = useQuickBenches();

  test.for([
    ['Escape', '\u001b', 'nothing was changed'],
    ['Ctrl-C', '\u0003', 'hint: nothing was sent'],
    ['Enter alone', '\r', 'nothing was changed'],
    ['another name', 'orders-dr\r', 'nothing was changed'],
  ] as const)('is not made after %s, and leaves no run open', async ([, keys, words], context) => {
    const { expect } = context;
    const home = await bench(context);
    const restore = ['backups', 'restore', '900041', '--instance', 'orders'];
    const screen = personAt(openTerminal(home.product, home, restore), expect);
    try {
      await screen.shows('type orders to go on');
      screen.type(keys);
      await screen.shows(words);
      await screen.shows('rc=130');
    } finally {
      await screen.close();
    }
    expect(changes(home.server)).toMatchObject({ posts: 0, patches: 0 });
    expect((await home.run('runs', '--open')).stderr).toContain('no run is open');
  });
});
