import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'vitest';
import { sitDown } from '../bench-kit/person.ts';
import { builtProduct } from '../bench-kit/product.ts';
import { hasTerminal, KEYS } from '../bench-kit/pseudo-terminal.ts';
import { type BenchOptions, changes } from '../bench-kit/test-bench.ts';

describe.skipIf(!hasTerminal()).concurrent('the board, in a real terminal', () => {
  const product = builtProduct({ cheapVault: true });

  async function openBoard(context: TestContext, options?: BenchOptions) {
    const { bench, open } = await sitDown(product, context, options);
    return { bench, screen: open() };
  }

  test('shows why an instance could not be recovered, opens it and goes back, and changes nothing', async (context) => {
    const { expect } = context;
    const { bench, screen } = await openBoard(context);
    await screen.shows(/of 2 instances NOT READY/u);
    await screen.shows('there is no recovery card');
    await screen.shows(/answers at most \d+s old/u);
    await screen.shows(/disk \d+ % used, parachute opens at \d+ %/u);
    screen.type(KEYS.enter);
    await screen.shows('[1 overview]');
    await screen.shows('── objectives');
    screen.type('4');
    await screen.shows('[4 metrics]');
    await screen.shows('parachute opens at');
    screen.type(KEYS.escape);
    await screen.shows('sorted by danger');
    screen.type('q');
    await screen.isGivenBack(0);
    expect(changes(bench.server)).toMatchObject({ patches: 0, posts: 0 });
  });

  test('shows what the journal knows while one instance is silent, and why another one refuses', async (context) => {
    const never = new Promise<undefined>(() => undefined);
    const { screen } = await openBoard(context, {
      trouble: ({ instance }) =>
        instance === 'orders-dr'
          ? never
          : { work: false, answer: { status: 401, body: { description: 'token expired' } } },
    });
    await screen.shows(/asked \d of 2/u);
    await screen.shows('there is no recovery card');
    await screen.shows(/orders +NOT READY .* 401 login/u);
    screen.type('q');
    await screen.isGivenBack(0);
  });

  test('keeps its compiled code for the next start', async (context) => {
    const { expect } = context;
    const compiled = mkdtempSync(join(tmpdir(), 'lifeboat-compiled-'));
    context.onTestFinished(() => rmSync(compiled, { recursive: true, maxRetries: 5 }));
    const { open } = await sitDown({ ...product, compiled }, context);
    const screen = open();
    await screen.shows(/instances? NOT READY/u);
    screen.type('q');
    await screen.isGivenBack(0);
    expect(readdirSync(compiled)).toContainEqual(expect.stringMatching(/-app-screen\.code$/u));
  });
});
