import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'vitest';
import { sitDown } from '../bench-kit/person.ts';
import { builtProduct } from '../bench-kit/product.ts';
import { hasTerminal, KEYS } from '../bench-kit/pseudo-terminal.ts';
import { changes, type TestBench } from '../bench-kit/test-bench.ts';

const CHANGE = ['run', 'change-instance', '--instance', 'orders'] as const;
const QUESTION = 'which one (Enter leaves)?';

describe.concurrent('a run that is not told which action to take on the instance', {
  timeout: 600_000,
}, () => {
  const product = builtProduct({ cheapVault: true });

  test.for([
    ['a script', CHANGE],
    ['one with answers for the rest', [...CHANGE, '--yes', '--confirm', 'orders']],
    ['a dry run', [...CHANGE, '--dry-run']],
  ] as const)('ends in %s with a list of the choices, and starts nothing', async ([, args], context) => {
    const { expect } = context;
    const { bench } = await sitDown(product, context);
    const { code, stderr } = await bench.run(...args);
    expect(code).toBe(2);
    expect(stderr).toMatch(/^lifeboat: change-instance needs --action$/mu);
    expect(stderr).toContain('add one of: --action restart, --action recreate, --action update');
    expect(hasJournal(bench)).toBe(false);
  });

  test.runIf(hasTerminal())('asks in a terminal, then shows the screen', async (context) => {
    const { expect } = context;
    const { bench, open } = await sitDown(product, context);
    const screen = open(...CHANGE);
    await screen.asks(QUESTION);
    expect(screen.isTaken()).toBe(false);
    expect(screen.text()).toMatch(
      /what should be done with orders\?\s+1 {2}restart\s+2 {2}recreate\s+3 {2}update/u,
    );
    screen.type(`4${KEYS.enter}`);
    await screen.shows(/type one of the numbers, or its word\s+which one/u);
    screen.type(`1${KEYS.enter}`);
    await screen.shows('restart orders');
    await expect.poll(screen.isTaken).toBe(true);
    const [begun] = (await bench.entries()).filter(({ type }) => type === 'run.started');
    expect(begun?.body).toMatchObject({ input: { action: 'restart' } });
  });

  test.runIf(hasTerminal()).for([
    ['Enter', KEYS.enter],
    ['Ctrl-C', '\u0003'],
  ] as const)('can be left with %s before anything is started', async ([, key], context) => {
    const { expect } = context;
    const { bench, open } = await sitDown(product, context);
    const screen = open(...CHANGE);
    await screen.asks(QUESTION);
    screen.type(key);
    await screen.isGivenBack(130);
    expect(screen.text()).toContain('lifeboat: nothing was started');
    expect(hasJournal(bench)).toBe(false);
    expect(changes(bench.server)).toMatchObject({ patches: 0, posts: 0 });
  });

  test.runIf(hasTerminal())('asks for a dry run too, which starts nothing', async (context) => {
    const { expect } = context;
    const { bench, open } = await sitDown(product, context);
    const screen = open(...CHANGE, '--dry-run');
    await screen.asks(QUESTION);
    screen.type(`update${KEYS.enter}`);
    await screen.isGivenBack(0);
    expect(screen.text()).toContain('nothing was changed');
    expect(hasJournal(bench)).toBe(false);
  });
});

/** Beginning a run makes one. */
function hasJournal({ home }: TestBench): boolean {
  return existsSync(join(home, 'lifeboat.db'));
}
