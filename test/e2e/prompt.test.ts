import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, test } from 'vitest';
import { copyProduct, type Product } from './product.ts';
import { hasTerminal, KEYS, openTerminal, personAt } from './terminal.ts';

const PASSPHRASE = 'canary-Wq8zLp3';
const CTRL_T = '\u0014';

describe.skipIf(!hasTerminal())('the passphrase of a vault', () => {
  const folder = mkdtempSync(join(tmpdir(), 'lifeboat-e2e-'));
  let product: Product;
  beforeAll(() => {
    mkdirSync(join(folder, 'home'));
    product = copyProduct({ cheapVault: true });
  });
  afterAll(() => {
    product.remove();
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
