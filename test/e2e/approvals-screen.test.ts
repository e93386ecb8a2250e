import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'vitest';
import { withApprovals } from '../bench-kit/approval-bench.ts';
import { typesOf } from '../bench-kit/entries-of.ts';
import { personAt } from '../bench-kit/person.ts';
import { builtProduct } from '../bench-kit/product.ts';
import { hasTerminal, KEYS, type Terminal } from '../bench-kit/pseudo-terminal.ts';
import { openTerminal } from '../bench-kit/terminal.ts';
import { changes, openBench, ROTATE } from '../bench-kit/test-bench.ts';

describe.skipIf(!hasTerminal()).concurrent('a change with two people, in a real terminal', () => {
  const product = builtProduct({ cheapVault: true });

  async function sitDown(context: TestContext) {
    const terminals: Terminal[] = [];
    const open = async (scope: Pick<TestContext, 'onTestFinished'>) => {
      const bench = await openBench(product);
      scope.onTestFinished(async () => {
        await Promise.all(terminals.map((terminal) => terminal.close()));
        await bench.close();
      });
      return bench;
    };
    const bench = await withApprovals(open, context);
    const at = (...args: string[]) => {
      const terminal = openTerminal(product, bench, args);
      terminals.push(terminal);
      return personAt(terminal, context.expect);
    };
    return { bench, at };
  }

  test('the name is refused until an approval is on disk, which the screen shows without a key press', async (context) => {
    const { expect } = context;
    const { bench, at } = await sitDown(context);
    const screen = at(...ROTATE);
    await screen.answerToTheChange();
    await screen.shows('a second person has to approve it by');
    await screen.shows(/sign: ssh-keygen -Y sign -n lifeboat-approval/);
    await screen.confirm();
    await screen.shows('! a second person has to approve it');
    expect(changes(bench.server)).toMatchObject({ patches: 0 });

    // Another process takes the signature in while this one shows the run.
    const { run, text } = await bench.request();
    const brought = join(bench.folder, 'brought.sig');
    writeFileSync(brought, bench.ada.sign(text));
    const accepted = await bench.run('approvals', 'accept', run, brought);
    expect(accepted.code, accepted.stderr).toBe(0);
    await screen.shows('approved by ada@example.com');
    // What was typed before still stands in the field.
    await screen.shows('❯ orders');
    screen.type(KEYS.enter);
    await screen.shows(/✓ PROVEN.*the key is rotated and proven/su);
    expect(changes(bench.server)).toMatchObject({ patches: 1, posts: 1 });
    expect(typesOf(await bench.entries(), 'run').filter((type) => type.startsWith('approval.'))).toEqual([
      'approval.asked',
      'approval.given',
    ]);
  });

  test('break-glass takes a reason and then the name; Enter alone bypasses nothing', async (context) => {
    const { expect } = context;
    const { bench, at } = await sitDown(context);
    const screen = at(...ROTATE);
    await screen.answerToTheChange();
    screen.type(KEYS.down);
    screen.type(KEYS.down);
    await screen.shows('❯ break the glass');
    screen.type(KEYS.enter);
    await screen.shows('why nobody can approve it in time');
    screen.type(KEYS.enter);
    await screen.shows('type a reason first');
    screen.type('Ada is asleep');
    await screen.shows('Ada is asleep');
    screen.type(KEYS.enter);
    await screen.shows('BREAK-GLASS, without a second person: Ada is asleep');
    expect(changes(bench.server)).toMatchObject({ patches: 0 });
    screen.type(KEYS.enter);
    await screen.shows('nothing was typed, so nothing happens');
    await screen.confirm();
    await screen.shows(
      /! PROVEN, WITH DEVIATIONS.*the key is rotated and proven.*✗ BREAK-GLASS, without a second person: Ada is asleep/su,
    );
    const bypassed = (await bench.entries()).find(({ type }) => type === 'approval.bypassed');
    expect(bypassed?.body).toMatchObject({ reason: 'Ada is asleep' });
  });

  test('in lines, as for a screen reader, the change is refused, approved and confirmed in the same way', async (context) => {
    const { expect } = context;
    const { bench, at } = await sitDown(context);
    const screen = at(...ROTATE, '--plain');
    await screen.asks('prove the newest first?');
    screen.type('1\r');
    await screen.asks('where does the new key come from?');
    screen.type('1\r');
    await screen.asks('type orders and Enter to confirm');
    screen.type('orders\r');
    await screen.shows('refused: a second person has to approve it');
    await bench.approve(bench.ada);
    await screen.shows('approved by ada@example.com');
    await screen.asks('>');
    screen.type('orders\r');
    await screen.shows('the key is rotated and proven');
    expect(changes(bench.server)).toMatchObject({ patches: 1 });
  });
});
