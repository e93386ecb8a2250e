import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Secret } from '../../src/base/secret.ts';
import { openVault } from '../../src/keys/vault.ts';
import { startRemoteStore } from './remote-store.ts';

const PASSPHRASE = 'correct horse battery';
const DIE = "process.kill(process.pid, 'SIGKILL')";

/** Instants at which a process can die inside `put`, as a module that makes the worker die there. */
const INSTANTS: readonly [title: string, code: string, isNew: boolean][] = [
  ['before the new file is made', `fs.writeFile = () => ${DIE}`, false],
  [
    'when half of the new file is written',
    `fs.writeFile = async (path, bytes, options) => { await writeFile(path, bytes.subarray(0, bytes.length / 2), options); ${DIE} }`,
    false,
  ],
  ['before the new file takes its place', `fs.rename = () => ${DIE}`, false],
  [
    'after the new file took its place',
    `fs.rename = async (from, to) => { await rename(from, to); ${DIE} }`,
    true,
  ],
];

let folder: string;
let path: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'lifeboat-vault-'));
  path = join(folder, 'vault.age');
});
afterEach(() => rm(folder, { recursive: true, force: true }));

describe('a process that is killed while it writes the vault', () => {
  it.each(INSTANTS)('%s leaves the old file or the new one whole', async (_title, code, isNew) => {
    const before = await open();
    await before.put('orders/aaaaaaaaaaaa', new Secret('old'));

    const doomed = startRemoteStore(['vault', path, PASSPHRASE, '8'], process.env, await preload(code));
    const put = doomed.put('orders/bbbbbbbbbbbb', new Secret('new'));
    await expect(put).rejects.toThrow('the worker died: SIGKILL');

    const after = await open();
    expect((await after.get('orders/aaaaaaaaaaaa'))?.reveal()).toBe('old');
    expect((await after.get('orders/bbbbbbbbbbbb'))?.reveal()).toBe(isNew ? 'new' : undefined);
    // The lock died with its holder, and nothing else is in the way.
    await after.put('orders/bbbbbbbbbbbb', new Secret('new'));
    expect(await after.accounts()).toEqual(['orders/aaaaaaaaaaaa', 'orders/bbbbbbbbbbbb']);
  });

  it.each(INSTANTS)(
    '%s leaves a vault that opens with the old passphrase or with the new one, never with none',
    async (_title, code, isNew) => {
      const before = await open();
      await before.put('orders/aaaaaaaaaaaa', new Secret('old'));
      const doomed = startRemoteStore(['vault', path, PASSPHRASE, '8'], process.env, await preload(code));
      const change = doomed.changePassphrase?.(async () => new Secret('another horse battery'));
      await expect(change).rejects.toThrow('the worker died: SIGKILL');
      const [opens, refuses] = isNew
        ? ['another horse battery', PASSPHRASE]
        : [PASSPHRASE, 'another horse battery'];
      expect((await (await open(opens)).get('orders/aaaaaaaaaaaa'))?.reveal()).toBe('old');
      const wrong = (await open(refuses)).get('orders/aaaaaaaaaaaa');
      await expect(wrong).rejects.toMatchObject({ code: 'keys.wrong-passphrase' });
    },
  );

  it('loses nothing that it reported as stored', async () => {
    const doomed = startRemoteStore(['vault', path, PASSPHRASE, '8']);
    const stored: string[] = [];
    const death = once(doomed.child, 'exit');
    for (let count = 0; ; count += 1) {
      const account = `orders/${String(count)}`;
      const put = doomed.put(account, new Secret('x')).then(() => stored.push(account));
      if (count === 25) doomed.child.kill('SIGKILL');
      const isStored = await put.then(
        () => true,
        () => false,
      );
      if (!isStored) break;
    }
    await death;
    expect(stored.length).toBeGreaterThanOrEqual(25);
    expect(await (await open()).accounts()).toEqual(expect.arrayContaining(stored));
  });
});

function open(passphrase = PASSPHRASE) {
  return openVault({ path, passphrase: async () => new Secret(passphrase), workFactor: 8 });
}

async function preload(code: string): Promise<string> {
  const file = join(folder, 'die.mjs');
  await writeFile(
    file,
    `import { syncBuiltinESMExports } from 'node:module';
     import fs from 'node:fs/promises';
     const { writeFile, rename } = fs;
     ${code};
     syncBuiltinESMExports();`,
  );
  return pathToFileURL(file).href;
}
