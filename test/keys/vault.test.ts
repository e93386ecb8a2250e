import {
  chmod,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { inspect } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Secret } from '../../src/base/secret.ts';
import type { KeyStore } from '../../src/keys/key-store.ts';
import { openVault } from '../../src/keys/vault.ts';
import { openItems, sealItems } from '../../src/keys/vault-format.ts';
import { startRemoteStore } from './remote-store.ts';
import { promisesOfAStore } from './store-contract.ts';

const PASSPHRASE = 'correct horse battery';
/** Fast scrypt: these tests do not depend on its cost. */
const FAST = 8;
const ACCOUNT = 'orders/0123456789ab';

let folder: string;
let path: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'lifeboat-vault-'));
  path = join(folder, 'home', 'vault.age');
});
afterEach(() => rm(folder, { recursive: true, force: true }));

function open(passphrase: string = PASSPHRASE): Promise<KeyStore> {
  return openVault({ path, passphrase: async () => new Secret(passphrase), workFactor: FAST });
}

async function openWithOneItem(): Promise<KeyStore> {
  const store = await open();
  await store.put(ACCOUNT, new Secret('one'));
  return store;
}

describe('the vault file', () => {
  promisesOfAStore(() => open());

  it('is there for the next process, opens with the passphrase only, and holds no plain text', async () => {
    await openWithOneItem();
    expect((await (await open()).get(ACCOUNT))?.reveal()).toBe('one');
    const bytes = await readFile(path, 'latin1');
    expect(bytes.startsWith('age-encryption.org/v1\n-> scrypt ')).toBe(true);
    expect(bytes).not.toContain('orders');
  });

  it('is readable by its owner only, and so is its folder', async () => {
    await openWithOneItem();
    expect(((await stat(path)).mode & 0o777).toString(8)).toBe('600');
    expect(((await stat(dirname(path))).mode & 0o777).toString(8)).toBe('700');
    expect((await readdir(dirname(path))).sort()).toEqual(['vault.age', 'vault.age.lock']);
  });

  it('holds canonical JSON: a version and the items, sorted by account', async () => {
    const store = await open();
    await store.put('orders/bbbbbbbbbbbb', new Secret('two'));
    await store.put('orders/aaaaaaaaaaaa', new Secret('one'));
    const { Decrypter } = await import('age-encryption');
    const decrypter = new Decrypter();
    decrypter.addPassphrase(PASSPHRASE);
    expect(await decrypter.decrypt(await readFile(path), 'text')).toBe(
      '{"items":{"orders/aaaaaaaaaaaa":"one","orders/bbbbbbbbbbbb":"two"},"version":1}',
    );
  });

  it('asks for the passphrase once, not before it is needed, and says whether a vault is there', async () => {
    const purposes: string[] = [];
    const passphrase = async (purpose: string) => {
      purposes.push(purpose);
      return new Secret(PASSPHRASE);
    };
    const first = await openVault({ path, passphrase, workFactor: FAST });
    expect(await first.get(ACCOUNT)).toBeUndefined();
    expect(purposes).toEqual([]);
    await Promise.all([first.put('a/1', new Secret('1')), first.put('a/2', new Secret('2')), first.probe()]);
    expect(purposes).toEqual(['create']);
    const second = await openVault({ path, passphrase, workFactor: FAST });
    await Promise.all([second.get('a/1'), second.accounts(), second.remove('a/1')]);
    expect(purposes).toEqual(['create', 'open']);
  });

  it('asks again after a wrong passphrase', async () => {
    await openWithOneItem();
    const answers = ['wrong', PASSPHRASE];
    const store = await openVault({ path, passphrase: async () => new Secret(answers.shift() ?? '') });
    await expect(store.get(ACCOUNT)).rejects.toMatchObject({ code: 'keys.wrong-passphrase' });
    expect((await store.get(ACCOUNT))?.reveal()).toBe('one');
  });

  it('asks again if the file was given another passphrase in between', async () => {
    const answers = [PASSPHRASE, 'changed'];
    const store = await openVault({
      path,
      passphrase: async () => new Secret(answers.shift() ?? ''),
      workFactor: FAST,
    });
    await store.put(ACCOUNT, new Secret('one'));
    await writeFile(
      path,
      await sealItems(new Map([[ACCOUNT, new Secret('one')]]), new Secret('changed'), FAST),
    );
    await expect(store.get(ACCOUNT)).rejects.toMatchObject({ code: 'keys.wrong-passphrase' });
    expect((await store.get(ACCOUNT))?.reveal()).toBe('one');
  });

  it('sees what another process stored, and keeps it when it writes itself', async () => {
    const one = await openWithOneItem();
    const other = await open();
    await other.put('orders/bbbbbbbbbbbb', new Secret('two'));
    expect((await one.get('orders/bbbbbbbbbbbb'))?.reveal()).toBe('two');
    await other.remove(ACCOUNT);
    await one.put('orders/cccccccccccc', new Secret('three'));
    expect(await other.accounts()).toEqual(['orders/bbbbbbbbbbbb', 'orders/cccccccccccc']);
  });

  it('loses no item of three processes that write at the same time', async () => {
    const writers = [1, 2, 3].map(() => startRemoteStore(['vault', path, PASSPHRASE, String(FAST)]));
    const names = [...Array(8).keys()];
    await Promise.all(
      writers.flatMap((writer, index) =>
        names.map((name) => writer.put(`w${String(index)}/${String(name)}`, new Secret('x'))),
      ),
    );
    await Promise.all(writers.map((writer) => writer.close()));
    expect(await (await open()).accounts()).toHaveLength(writers.length * names.length);
  });
});

describe('a vault that cannot be used', () => {
  it('says that the passphrase is wrong, and changes nothing', async () => {
    await openWithOneItem();
    const before = await readFile(path);
    const store = await open('wrong');
    const refusal = {
      code: 'keys.wrong-passphrase',
      shortMessage: `the passphrase does not open the vault file ${path}`,
    };
    await expect(store.get(ACCOUNT)).rejects.toMatchObject(refusal);
    await expect(store.probe()).rejects.toMatchObject(refusal);
    await expect(store.put('orders/bbbbbbbbbbbb', new Secret('two'))).rejects.toMatchObject(refusal);
    expect(await readFile(path)).toEqual(before);
  });

  it.each(['x', '123 567 901', ' '.repeat(20), `  ${'é'.repeat(11)}  `])(
    'creates no vault with a passphrase of less than twelve characters: "%s"',
    async (text) => {
      const store = await openVault({ path, passphrase: async () => new Secret(text), workFactor: FAST });
      for (const ended of [store.probe(), store.put(ACCOUNT, new Secret('one'))])
        await expect(ended).rejects.toMatchObject({
          code: 'keys.weak-passphrase',
          shortMessage: 'the passphrase of a new vault file has to have 12 characters or more',
        });
      await expect(stat(path)).rejects.toMatchObject({ code: 'ENOENT' });
    },
  );

  it('opens an older vault, however short its passphrase', async () => {
    await mkdir(dirname(path), { mode: 0o700 });
    await writeFile(path, await sealItems(new Map([[ACCOUNT, new Secret('one')]]), new Secret('x'), FAST), {
      mode: 0o600,
    });
    const store = await openVault({ path, passphrase: async () => new Secret('x'), workFactor: FAST });
    await store.put('orders/bbbbbbbbbbbb', new Secret('two'));
    expect((await store.get(ACCOUNT))?.reveal()).toBe('one');
  });

  it('accepts a passphrase of a thousand characters and more', async () => {
    const passphrase = async () => new Secret('lang wie ein Satz '.repeat(100));
    await (await openVault({ path, passphrase, workFactor: FAST })).put(ACCOUNT, new Secret('one'));
    expect((await (await openVault({ path, passphrase })).get(ACCOUNT))?.reveal()).toBe('one');
  });

  it('says that the passphrase is empty, and creates no vault with it', async () => {
    const store = await open('');
    await expect(store.put(ACCOUNT, new Secret('one'))).rejects.toMatchObject({
      code: 'keys.empty-passphrase',
    });
    await expect(stat(path)).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it.each([
    ['empty', () => Buffer.alloc(0)],
    ['cut in its header', (bytes: Buffer) => bytes.subarray(0, 60)],
    ['cut at its end', (bytes: Buffer) => bytes.subarray(0, -1)],
    ['longer than it was', (bytes: Buffer) => Buffer.concat([bytes, Buffer.from('x')])],
    ['changed in its last byte', (bytes: Buffer) => flip(bytes, bytes.length - 1)],
    ['not an age file', () => Buffer.from('{"version":1,"items":{}}')],
  ])('is called damaged when it is %s, and is never written to', async (_title, harm) => {
    await openWithOneItem();
    const harmed = harm(await readFile(path));
    await writeFile(path, harmed);
    const store = await open();
    await expect(store.get(ACCOUNT)).rejects.toMatchObject({ code: 'keys.damaged' });
    await expect(store.put('orders/bbbbbbbbbbbb', new Secret('two'))).rejects.toMatchObject({
      code: 'keys.damaged',
    });
    expect(await readFile(path)).toEqual(harmed);
  });

  it('returns no item of a vault with a flipped bit, wherever the bit is', async () => {
    const passphrase = new Secret(PASSPHRASE);
    const bytes = await sealItems(new Map([[ACCOUNT, new Secret('one')]]), passphrase, FAST);
    for (let at = 0; at < bytes.length; at += 1) {
      await expect(openItems(flip(bytes, at), passphrase, path)).rejects.toMatchObject({
        code: expect.stringMatching(/^keys\.(damaged|wrong-passphrase)$/),
      });
    }
  });

  async function opening(text: string): Promise<unknown> {
    const { Encrypter } = await import('age-encryption');
    const encrypter = new Encrypter();
    encrypter.setPassphrase(PASSPHRASE);
    encrypter.setScryptWorkFactor(FAST);
    const sealed = Buffer.from(await encrypter.encrypt(text));
    return openItems(sealed, new Secret(PASSPHRASE), 'v.age').catch((thrown: unknown) => thrown);
  }

  it('of a later version is reported as newer, not as damaged', async () => {
    const error = await opening('{"things":"top secret","version":2}');
    expect(error).toMatchObject({
      code: 'keys.newer',
      shortMessage: 'the vault file v.age is of version 2',
    });
    expect(inspect(error)).not.toMatch(/top secret/);
  });

  it.each([
    ['no version', '{"items":{}}'],
    ['no items', '{"version":1}'],
    ['something else', 'top secret'],
  ])('is called damaged when it opens and holds %s, without showing what', async (_title, text) => {
    const error = await opening(text);
    expect(error).toMatchObject({
      code: 'keys.damaged',
      shortMessage:
        'the vault file v.age cannot be read: it opens, but what it holds is not a vault file of version 1',
    });
    expect(inspect(error)).not.toMatch(/top secret|"version"/);
  });

  it('is refused when others can open it', async () => {
    await openWithOneItem();
    await chmod(path, 0o640);
    await expect(open()).rejects.toMatchObject({
      code: 'keys.permissions',
      shortMessage: `others can open the vault file ${path} (0640)`,
      hints: [`chmod 600 ${path}`, 'if others use this machine, treat what it held as known to them'],
    });
  });

  it('is refused when a link or a folder is in its place', async () => {
    await openWithOneItem();
    await rename(path, join(folder, 'elsewhere'));
    await symlink(join(folder, 'elsewhere'), path);
    await expect(open()).rejects.toMatchObject({
      code: 'keys.not-a-file',
      shortMessage: `the vault file ${path} is not used: it is a symbolic link`,
    });
    await rm(path);
    await mkdir(path);
    await expect(open()).rejects.toMatchObject({ code: 'keys.not-a-file' });
  });

  it('is refused when others can exchange the files of its folder', async () => {
    await openWithOneItem();
    await chmod(dirname(path), 0o770);
    const store = await open();
    await expect(store.put('orders/bbbbbbbbbbbb', new Secret('two'))).rejects.toMatchObject({
      code: 'keys.permissions',
      hints: ['nothing was written', `chmod 700 ${dirname(path)}`],
    });
  });

  it('is not replaced by an empty one when it disappears', async () => {
    const store = await openWithOneItem();
    await rename(path, join(folder, 'moved'));
    const refusal = { code: 'keys.gone' };
    await expect(store.get(ACCOUNT)).rejects.toMatchObject(refusal);
    await expect(store.put('orders/bbbbbbbbbbbb', new Secret('two'))).rejects.toMatchObject(refusal);
    await rename(join(folder, 'moved'), path);
    expect((await store.get(ACCOUNT))?.reveal()).toBe('one');
  });

  it('repeats the error of the disk, and keeps the old items', async () => {
    await writeFile(join(folder, 'home'), 'a file where the folder should be');
    const store = await open().catch((error: unknown) => error);
    expect(store).toMatchObject({
      code: 'keys.io',
      shortMessage: `cannot read ${path}: a part of its path is a file, not a folder`,
    });
  });
});

function flip(bytes: Buffer, at: number): Buffer {
  const copy = Buffer.from(bytes);
  copy[at] = (copy[at] ?? 0) ^ 1;
  return copy;
}
