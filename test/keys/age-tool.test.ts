import { once } from 'node:events';
import { chmod, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { Secret } from '../../src/base/secret.ts';
import { openVault } from '../../src/keys/vault.ts';
import { spawnTerminal } from '../bench-kit/pseudo-terminal.ts';
import { describeWith } from './programs.ts';
import { withFolder } from './session-bus.ts';

const PASSPHRASE = 'correct horse battery';

describeWith(['age', 'script'], 'the public age tool', () => {
  it('opens a vault without Lifeboat, at the work factor that is shipped', async () => {
    await withFolder(async (folder) => {
      const store = await open(folder);
      await store.put('orders/0123456789ab', new Secret('the key'));
      await inTerminal('age --decrypt --output plain.json vault.age', folder, 1);
      expect(JSON.parse(await readFile(join(folder, 'plain.json'), 'utf8'))).toEqual({
        version: 1,
        items: { 'orders/0123456789ab': 'the key' },
      });
    });
  });

  it('writes a vault that Lifeboat opens', async () => {
    await withFolder(async (folder) => {
      await writeFile(
        join(folder, 'plain.json'),
        '{ "version": 1, "items": { "orders/0123456789ab": "the key" } }\n',
      );
      await inTerminal('age --encrypt --passphrase --output vault.age plain.json', folder, 2);
      await chmod(join(folder, 'vault.age'), 0o600);
      const store = await open(folder);
      expect((await store.get('orders/0123456789ab'))?.reveal()).toBe('the key');
    });
  });
});

function open(folder: string) {
  return openVault({ path: join(folder, 'vault.age'), passphrase: async () => new Secret(PASSPHRASE) });
}

/**
 * Runs a command on a pseudo-terminal and enters the passphrase at each of its prompts: age asks nowhere
 * else.
 */
async function inTerminal(command: string, cwd: string, prompts: number): Promise<void> {
  const terminal = spawnTerminal(command, { cwd, env: process.env as Record<string, string> });
  let screen = '';
  let answered = 0;
  terminal.stdout.on('data', (bytes: Buffer) => {
    screen += bytes.toString();
    const asked = screen.match(/passphrase[^:\n]*:/gi)?.length ?? 0;
    for (; answered < Math.min(asked, prompts); answered += 1) terminal.stdin.write(`${PASSPHRASE}\n`);
  });
  const [code] = await once(terminal, 'close');
  expect(code, screen).toBe(0);
}
