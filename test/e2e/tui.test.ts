import { describe, type TestContext, test } from 'vitest';
import { FIRST_REPEAT_MS } from '../../src/tui/screens/run/screen-state.ts';
import { CANARIES } from '../bench-kit/canaries.ts';
import { statesOf } from '../bench-kit/entries-of.ts';
import type { Trouble } from '../bench-kit/foreign/call.ts';
import { sitDown } from '../bench-kit/person.ts';
import { builtProduct } from '../bench-kit/product.ts';
import { hasTerminal, KEYS } from '../bench-kit/pseudo-terminal.ts';
import { ANSWERED, changes, ROTATE } from '../bench-kit/test-bench.ts';

describe.skipIf(!hasTerminal()).concurrent('a rotation by hand, in a real terminal', () => {
  const product = builtProduct({ cheapVault: true });

  /** A screen whose first question was answered by a hold of Enter, and how many answers that hold gave. */
  const heldDown = async (context: TestContext) => {
    for (;;) {
      const { bench, open } = await sitDown(product, context);
      const screen = open(...ROTATE);
      await screen.asks('prove the newest first?');
      const longest = await screen.hold(KEYS.enter, 60);
      await screen.asks(/prove the newest first\?|where does the new key come from\?|Confirm by name/u);
      const answers = (await bench.entries()).filter(({ type }) => type === 'answer').length;
      // A screen that was busy takes a key for one pressed earlier: then the whole hold answers nothing. It
      // may be busy still, and would take a second hold for an answer to the next question. And where this
      // process stood still for long, the key was let go in between: nothing to judge.
      if (answers > 0 && longest < FIRST_REPEAT_MS) return { bench, screen, answers };
    }
  };

  test('a wrong command line gets its error on the ordinary screen', async (context) => {
    const { open } = await sitDown(product, context);
    const screen = open('run');
    await screen.isGivenBack(2);
    context.expect(screen.text()).toMatch(/^lifeboat: missing required argument 'runbook'$/mu);
  });

  test('a dry run prints on the ordinary screen and leaves the terminal as it was', async (context) => {
    const { bench, open } = await sitDown(product, context);
    const screen = open(...ROTATE, '--dry-run');
    await screen.isGivenBack(0);
    context.expect(screen.bytes()).not.toContain('\u001b[?1049h');
    context.expect(screen.text()).toContain('nothing was changed');
    context.expect(changes(bench.server)).toMatchObject({ patches: 0, posts: 0 });
  });

  test('key by key to the end: proven, and the screen is given back', async (context) => {
    const { expect } = context;
    const { bench, open } = await sitDown(product, context);
    const screen = open(...ROTATE);
    await screen.answerToTheChange();
    expect(changes(bench.server)).toMatchObject({ patches: 0, posts: 0 });
    await screen.confirm();
    await screen.asks(/✓ PROVEN.*the key is rotated and proven/su);
    expect(screen.isTaken()).toBe(true);
    screen.type(KEYS.enter);
    await screen.isGivenBack(0);
    expect(screen.text()).toContain('the key is rotated and proven');
    expect(changes(bench.server)).toEqual({ patches: 1, posts: 1, patchesDone: 1, postsDone: 1 });
    for (const secret of [CANARIES.token, CANARIES.passphrase, ...bench.server.keys]) {
      expect(screen.text()).not.toContain(secret);
    }
  });

  test('holding Enter down answers one question, and the next is still there', async (context) => {
    const { expect } = context;
    const { bench, screen, answers } = await heldDown(context);
    expect(answers).toBe(1);
    await screen.asks('where does the new key come from?');
    screen.type(KEYS.enter);
    await screen.shows("type the instance's name");
    expect(changes(bench.server)).toMatchObject({ patches: 0, posts: 0 });
  });

  test('a wrong name is refused at once, and the right one is accepted afterwards', async (context) => {
    const { expect } = context;
    const { bench, open } = await sitDown(product, context);
    const screen = open(...ROTATE);
    await screen.answerToTheChange();
    screen.type('order');
    await screen.shows(/❯ order(?!s)/);
    screen.type(KEYS.enter);
    await screen.shows('that is not the name');
    expect(changes(bench.server)).toMatchObject({ patches: 0 });
    screen.type(KEYS.clear);
    await screen.shows(/❯\s*\n\s+stop the run/);
    await screen.confirm();
    await screen.shows(/✓ PROVEN.*the key is rotated and proven/su);
    expect(changes(bench.server)).toMatchObject({ patches: 1, posts: 1 });
  });

  test('left with q: the screen is given back, the command to resume is shown, and it works', async (context) => {
    const { expect } = context;
    const { bench, open } = await sitDown(product, context);
    const screen = open(...ROTATE);
    await screen.answerToTheChange();
    screen.type(KEYS.escape);
    await screen.asks('leave this run?');
    screen.type(KEYS.down);
    await screen.shows('❯ leave');
    screen.type(KEYS.enter);
    await screen.isGivenBack(130);
    expect(screen.text()).toMatch(/lifeboat resume \w{26}/);
    expect(changes(bench.server)).toMatchObject({ patches: 0, posts: 0 });
    const resumed = await bench.run('resume', ...ANSWERED);
    expect(resumed.code, resumed.stderr).toBe(0);
  });

  test('a change that did not take effect: resuming makes it again after the name is typed once more', async (context) => {
    const { expect } = context;
    let isFirst = true;
    const trouble = ({ method }: { readonly method: string }): Trouble | undefined => {
      if (method !== 'PATCH' || !isFirst) return undefined;
      isFirst = false;
      return { work: false, answer: { status: 502, body: 'bad gateway', html: true } };
    };
    const { bench, open } = await sitDown(product, context, { trouble });
    expect((await bench.rotate()).code).toBe(3);
    const screen = open('resume');
    await screen.asks('set the new key again');
    expect(screen.text()).toContain('the change did not take');
    screen.type(KEYS.enter);
    await screen.asks("type the instance's name");
    await screen.confirm();
    await screen.shows(/✓ PROVEN.*the key is rotated and proven/su);
    expect(changes(bench.server)).toMatchObject({ patches: 2, patchesDone: 1, posts: 2 });
    expect(
      new Set(bench.server.calls.filter(({ method }) => method === 'PATCH').map(({ key }) => key)).size,
    ).toBe(1);
    expect(statesOf(await bench.entries()).filter((state) => state === 'change.sending')).toHaveLength(2);
  });
});
