import { readFileSync, rmSync } from 'node:fs';
import { describe, type TestContext, test } from 'vitest';
import { personAt } from '../bench-kit/person.ts';
import { isRunning, treeOf } from '../bench-kit/process-tree.ts';
import { builtProduct } from '../bench-kit/product.ts';
import { hasTerminal, KEYS } from '../bench-kit/pseudo-terminal.ts';
import { openTerminal } from '../bench-kit/terminal.ts';
import { openBench } from '../bench-kit/test-bench.ts';

const BOARD = / lifeboat {2}all instances/u;
const CTRL_Z = '\u001a';
const KEY = 'a-key-that-nobody-may-see-0123456789';
/** How each is reached from the board, and what it shows. */
const SCREENS = [
  { screen: 'board', keys: '', shows: BOARD },
  { screen: 'runs', keys: 'r', shows: / lifeboat {2}runs/u },
  { screen: 'help', keys: '?', shows: / lifeboat {2}help: all instances/u },
  { screen: 'palette', keys: ':', shows: / lifeboat {2}find anything/u },
] as const;

describe.skipIf(!hasTerminal())('the app in a real terminal', () => {
  const product = builtProduct({ cheapVault: true });

  async function sitDown(
    { expect, onTestFinished }: TestContext,
    env: Record<string, string> = {},
    stops = false,
  ) {
    const bench = await openBench(product);
    const screen = personAt(openTerminal(product, { env: { ...bench.env, ...env } }, [], { stops }), expect);
    onTestFinished(async () => {
      await screen.close();
      await bench.close();
    });
    /** The app itself, not the terminal around it; other tests may have one open, too. */
    const pid = () => {
      const app = treeOf(screen.pid ?? 0).find(
        (one) => readFileSync(`/proc/${one}/cmdline`, 'utf8') === `${process.execPath}\0${product.cli}\0`,
      );
      if (app === undefined) throw new Error('no app runs in the terminal');
      return app;
    };
    /** The title of the window is taken from its stack as often as it was put there. */
    const isNamedAsBefore = () => {
      const count = (bytes: string) => screen.bytes().split(bytes).length - 1;
      expect(count('\u001b[22;2t')).toBeGreaterThan(0);
      expect(count('\u001b[23;2t')).toBe(count('\u001b[22;2t'));
    };
    return { bench, screen, pid, isNamedAsBefore };
  }

  test.for(SCREENS)(
    'SIGTERM on the screen $screen leaves no trace on it',
    async ({ keys, shows }, context) => {
      const { screen, pid, isNamedAsBefore } = await sitDown(context);
      await screen.shows('orders');
      screen.type(keys);
      await screen.shows(shows);
      process.kill(pid(), 'SIGTERM');
      await screen.isGivenBack(0);
      isNamedAsBefore();
    },
  );

  test.for(SCREENS)('the screen $screen comes back after Ctrl-Z and fg', async ({ keys, shows }, context) => {
    const { screen, isNamedAsBefore } = await sitDown(context, {}, true);
    await screen.shows('orders');
    screen.type(keys);
    await screen.shows(shows);
    screen.type(CTRL_Z);
    await screen.shows('$ stopped');
    context.expect(screen.isTaken()).toBe(false);
    screen.type(KEYS.enter);
    await context.expect.poll(() => screen.isTaken(), { timeout: 100_000 }).toBe(true);
    await screen.shows(shows);
    if (keys === ':' || keys === '?') screen.type(KEYS.escape);
    await screen.shows(keys === 'r' ? shows : BOARD);
    screen.type('q');
    if (keys === 'r') {
      await screen.shows(BOARD);
      screen.type('q');
    }
    await screen.isGivenBack(0);
    isNamedAsBefore();
  });

  test('the app ends when its terminal goes away', async (context) => {
    const { screen, pid } = await sitDown(context);
    await screen.shows('orders');
    const app = pid();
    screen.hangUp();
    await context.expect.poll(() => isRunning(app), { timeout: 100_000 }).toBe(false);
  });

  test('after a shell, the same screen comes back, with names and ids still hidden', async (context) => {
    const { screen } = await sitDown(context, { SHELL: '/bin/sh', LIFEBOAT_PRESENT: '1' });
    // As long as the name that it hides, and numbered in the order in which names are first shown.
    await screen.shows(/inst[a-z]*-1/u);
    screen.type('r');
    await screen.shows(/ lifeboat {2}runs/u);
    screen.type('!');
    await screen.shows('a shell beside lifeboat');
    screen.type(`echo in-the-$((20 + 3))${KEYS.enter}`);
    await screen.shows('in-the-23');
    screen.type(`exit${KEYS.enter}`);
    await context.expect.poll(() => screen.isTaken(), { timeout: 100_000 }).toBe(true);
    await screen.shows(/ lifeboat {2}runs/u);
    context.expect(screen.bytes()).not.toMatch(/\borders\b/u);
  });

  test('a key is typed into a field that shows only its length, and is listed on the screen afterwards', async (context) => {
    const { screen } = await sitDown(context);
    await screen.shows('orders');
    screen.type('K');
    await screen.shows(/ lifeboat {2}keys/u);
    await screen.shows(/orders +[0-9a-f]{12} +yes/u);
    screen.type('a');
    await screen.shows('key of orders');
    screen.type(KEY);
    await screen.shows(`hidden: ${'•'.repeat(KEY.length)}`);
    screen.type(KEYS.enter);
    await screen.shows('once more, to compare: ');
    screen.type(KEY);
    await screen.shows(`compare: ${'•'.repeat(KEY.length)}`);
    screen.type(KEYS.enter);
    await screen.shows(/key [0-9a-f]{12} of orders is stored in/u);
    await screen.shows(/orders +([0-9a-f]{12}) +yes[\s\S]*orders +(?!\1)[0-9a-f]{12} +yes/u);
    context.expect(screen.bytes()).not.toContain(KEY);
  });

  test('without a config it says on the ordinary screen where to begin', async (context) => {
    const { bench, screen: first } = await sitDown(context);
    await first.shows('orders');
    const { LIFEBOAT_CONFIG: _, ...env } = bench.env;
    rmSync(`${bench.folder}/lifeboat.yaml`, { force: true });
    const nowhere = { ...env, XDG_CONFIG_HOME: bench.folder, HOME: bench.folder };
    const screen = personAt(openTerminal(product, { env: nowhere }, []), context.expect);
    context.onTestFinished(() => screen.close());
    await screen.isGivenBack(2);
    for (const command of ['lifeboat init', 'lifeboat drill', 'lifeboat lab'])
      context.expect(screen.text()).toContain(command);
  });

  test.for([{ TERM: 'dumb' }, { INK_SCREEN_READER: 'true' }])(
    'where nothing can be drawn, it prints what the board would show as lines (%o)',
    async (env, context) => {
      const { screen } = await sitDown(context, env as Record<string, string>);
      await screen.isGivenBack(1);
      context.expect(screen.bytes()).not.toContain('\u001b[?1049h');
      context.expect(screen.text()).toContain('orders');
      context.expect(screen.text()).toContain('lifeboat runs --open');
    },
  );
});
