import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, type TestContext, test } from 'vitest';
import { personAt, sitDown } from '../bench-kit/person.ts';
import { builtProduct } from '../bench-kit/product.ts';
import { hasTerminal, KEYS } from '../bench-kit/pseudo-terminal.ts';
import { openTerminal } from '../bench-kit/terminal.ts';
import { openBench } from '../bench-kit/test-bench.ts';

const PASSPHRASE = 'canary-Wq8zLp3';
const CTRL_C = '\u0003';
const CTRL_T = '\u0014';

describe.skipIf(!hasTerminal())('a secret that is pasted before the prompt appears', () => {
  const product = builtProduct({ cheapVault: true });

  test('is not shown, and is there for the prompt', async ({ expect, onTestFinished }) => {
    const bench = await openBench(product);
    onTestFinished(() => bench.close());
    const passphrase = readFileSync(bench.env['LIFEBOAT_PASSPHRASE_FILE'] ?? '', 'utf8');
    // The vault opens when the test says so.
    const pipe = join(bench.folder, 'passphrase-pipe');
    execFileSync('mkfifo', ['-m', '600', pipe]);
    const env = { ...bench.env, LIFEBOAT_PASSPHRASE_FILE: pipe };
    const screen = personAt(openTerminal(product, { env }, ['keys', 'add', 'orders', '--token']), expect);
    try {
      const asked = await open(pipe, 'w');
      screen.type(`canary-token-that-is-pasted${KEYS.enter}`);
      await asked.writeFile(passphrase);
      await asked.close();
      await screen.shows('the access token of orders is stored');
      await screen.shows('rc=0');
      await screen.shows('$ after');
      expect(screen.bytes()).not.toContain('canary');
      expect(screen.bytes()).toMatch(/ echo /u);
    } finally {
      await screen.close();
    }
  });
});

describe.skipIf(!hasTerminal())('a prompt for a secret', () => {
  const product = builtProduct({ cheapVault: true });

  test.for([
    ['Ctrl-C', CTRL_C],
    ['Escape', KEYS.escape],
    ['Escape and Ctrl-C in one piece', `${KEYS.escape}${CTRL_C}`],
    ['Escape and Enter in one piece', `canary-typed${KEYS.escape}${KEYS.enter}`],
  ] as const)('can be left with %s, and nothing is stored', async ([, keys], context) => {
    const { expect } = context;
    const { bench, open } = await sitDown(product, context);
    const before = (await bench.run('keys', 'list', 'orders')).stdout;
    const screen = open('keys', 'add', 'orders', '--token');
    await screen.shows('(Esc leaves)');
    screen.type(keys);
    await screen.isGivenBack(130);
    expect(screen.text()).toContain('nothing was entered');
    expect((await bench.run('keys', 'list', 'orders')).stdout).toBe(before);
  });
});

describe.skipIf(!hasTerminal())('a passphrase that is pasted before the prompt appears', () => {
  const product = builtProduct({ cheapVault: true });

  /** A command that stands still before it opens the vault, until `goOn`. */
  async function waiting({ expect, onTestFinished }: TestContext, ...args: readonly string[]) {
    const bench = await openBench(product);
    onTestFinished(() => bench.close());
    const { LIFEBOAT_PASSPHRASE_FILE: file = '', LIFEBOAT_CONFIG: config = '', ...env } = bench.env;
    const pipe = join(bench.folder, 'config-pipe');
    execFileSync('mkfifo', ['-m', '600', pipe]);
    const terminal = openTerminal(product, { env: { ...env, LIFEBOAT_CONFIG: pipe } }, args);
    const screen = personAt(terminal, expect);
    onTestFinished(() => screen.close());
    const asked = await open(pipe, 'w');
    onTestFinished(() => asked.close());
    return {
      ...screen,
      passphrase: readFileSync(file, 'utf8').trim(),
      goOn: async () => {
        await asked.writeFile(readFileSync(config));
        await asked.close();
      },
      /** The command itself, not the terminal around it. */
      kill: (signal: NodeJS.Signals) => {
        const found = execFileSync('pgrep', ['-f', `^${process.execPath} ${product.cli} ${args.join(' ')}`]);
        process.kill(Number(String(found)), signal);
      },
    };
  }

  test.for([
    ['keys', 'list'],
    ['run', 'rotate-key', '--instance', 'orders'],
  ])('is not shown by a command that opens the vault, and is there for the prompt', async (args, context) => {
    const screen = await waiting(context, ...args);
    screen.type(`${screen.passphrase}${KEYS.enter}`);
    await screen.goOn();
    await screen.shows(args[0] === 'run' ? 'prove the newest first?' : 'kept in:');
    context.expect(screen.bytes()).not.toContain(screen.passphrase);
    if (args[0] === 'run') return;
    await screen.isGivenBack(0);
  });

  test.for(['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'] as const)(
    'leaves a terminal that echoes input when %s ends the command',
    async (signal, context) => {
      const screen = await waiting(context, 'keys', 'list');
      screen.kill(signal);
      await screen.isGivenBack(130);
    },
  );

  test('leaves a terminal that echoes input also when the command fails before it asks', async (context) => {
    const screen = await waiting(context, 'keys', 'list', 'nobody');
    await screen.goOn();
    await screen.isGivenBack(2);
  });

  test('hides what is pasted for the next prompt too', async (context) => {
    const screen = await waiting(context, 'keys', 'add', 'orders', '--token');
    screen.type(`${screen.passphrase}${KEYS.enter}`);
    await screen.goOn();
    await screen.shows('✔ passphrase of the vault file');
    screen.type(`canary-token${KEYS.enter}`);
    await screen.shows('the access token of orders is stored');
    await screen.isGivenBack(0);
    context.expect(screen.bytes()).not.toContain('canary');
  });
});

describe.skipIf(!hasTerminal())('the passphrase of a vault', () => {
  const folder = mkdtempSync(join(tmpdir(), 'lifeboat-e2e-'));
  const product = builtProduct({ cheapVault: true });
  beforeAll(() => {
    mkdirSync(join(folder, 'home'));
  });
  afterAll(() => {
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  });

  test('is asked for twice and never shown, whatever is pressed', async ({ expect }) => {
    const env = { HOME: folder, LIFEBOAT_HOME: join(folder, 'home'), LIFEBOAT_KEYCHAIN: 'vault' };
    const screen = personAt(openTerminal(product, { env }, ['doctor']), expect);
    try {
      await screen.shows('a new passphrase for the vault');
      screen.type(`${CTRL_T}${PASSPHRASE}`);
      // How long it is, and no more.
      await screen.shows('*'.repeat(PASSPHRASE.length));
      screen.type(KEYS.enter);
      await screen.shows('once more');
      screen.type(`${CTRL_T}${PASSPHRASE}`);
      screen.type(KEYS.enter);
      await screen.shows('vault.age: written, read');
      expect(screen.bytes()).not.toContain('canary');
    } finally {
      await screen.close();
    }
  });
});
