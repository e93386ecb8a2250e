import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, test } from 'vitest';
import { builtProduct } from './product.ts';
import { hasTerminal, KEYS, openTerminal, personAt } from './terminal.ts';
import { openBench } from './test-bench.ts';

const PASSPHRASE = 'canary-Wq8zLp3';
const CTRL_T = '\u0014';

describe.skipIf(!hasTerminal())('a secret that is pasted before anybody asks for it', () => {
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
      await screen.shows('input is masked');
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
