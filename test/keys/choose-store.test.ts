import { execFileSync } from 'node:child_process';
import { chmod, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Secret } from '../../src/base/secret.ts';
import { chooseStore, readPassphraseFile } from '../../src/keys/choose-store.ts';

let folder: string;
let file: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'lifeboat-keys-'));
  file = join(folder, 'passphrase');
});
afterEach(() => rm(folder, { recursive: true, force: true }));

describe('the choice of a key store', () => {
  it('opens the vault in the home folder with the passphrase from a file', async () => {
    await writeFile(file, 'correct horse\n', { mode: 0o600 });
    const store = await chooseStore({
      env: { LIFEBOAT_KEYCHAIN: 'vault', LIFEBOAT_PASSPHRASE_FILE: file },
      home: folder,
    });
    expect(store.kind).toBe('vault');
    expect(store.description).toBe(`vault file ${join(folder, 'vault.age')}`);
    await store.put('orders/0123456789ab', new Secret('one'));
    expect((await readdir(folder)).sort()).toEqual(['passphrase', 'vault.age', 'vault.age.lock']);
  });

  it('asks the operator when there is no file, and says that there is no vault file yet', async () => {
    const purposes: string[] = [];
    await chooseStore({
      env: { LIFEBOAT_KEYCHAIN: 'vault', LIFEBOAT_PASSPHRASE_FILE: '' },
      home: folder,
      askPassphrase: async (purpose) => {
        purposes.push(purpose);
        return new Secret('correct horse');
      },
    });
    expect(purposes).toEqual(['create']);
  });

  it('fails without a person to ask', async () => {
    await expect(chooseStore({ env: { LIFEBOAT_KEYCHAIN: 'vault' }, home: folder })).rejects.toMatchObject({
      code: 'keys.no-passphrase',
      shortMessage: 'the vault file needs a passphrase, and there is no terminal to ask for it in',
      exitCode: 4,
    });
  });

  it('refuses an unknown store', async () => {
    const choice = chooseStore({ env: { LIFEBOAT_KEYCHAIN: 'plain\u001b[2J' }, home: folder });
    await expect(choice).rejects.toMatchObject({
      code: 'keys.unknown-store',
      shortMessage: 'LIFEBOAT_KEYCHAIN is plain\ufffd[2J: not a key store',
      exitCode: 2,
    });
  });

  it('says what is wrong with the OS keychain, suggests the vault, and uses nothing else', async () => {
    const script = `
      const { chooseStore } = await import(${JSON.stringify(new URL('../../src/keys/choose-store.ts', import.meta.url).href)});
      const chosen = await chooseStore({ env: {}, home: ${JSON.stringify(join(folder, 'home'))} }).catch((error) => error);
      console.log(JSON.stringify({ code: chosen.code, hints: chosen.hints }));`;
    const env = { PATH: process.env['PATH'], HOME: folder };
    const output = execFileSync(process.execPath, ['--input-type=module', '--eval', script], { env });
    const { code, hints } = JSON.parse(output.toString());
    expect(['keys.no-bus', 'keys.no-library']).toContain(code);
    expect(hints).toContain(
      'to keep keys in a file under a passphrase instead: write `keyStore: vault` into lifeboat.yaml',
    );
    expect(await readdir(folder)).not.toContain('home');
  });
});

describe('the passphrase file', () => {
  it.each([
    ['with a line end', 'correct horse\n'],
    ['without one', 'correct horse'],
    ['with the line end of Windows', 'correct horse\r\n'],
    ['with more lines', 'correct horse\nsecond line\n'],
  ])('has the passphrase in its first line: %s', async (_title, text) => {
    await writeFile(file, text, { mode: 0o600 });
    expect((await readPassphraseFile(file)).reveal()).toBe('correct horse');
  });

  it('keeps the spaces around a passphrase', async () => {
    await writeFile(file, ' correct horse \n', { mode: 0o600 });
    expect((await readPassphraseFile(file)).reveal()).toBe(' correct horse ');
  });

  it.each([0o644, 0o640, 0o604, 0o660])('is refused when others can open it: mode %i', async (mode) => {
    await writeFile(file, 'correct horse\n');
    await chmod(file, mode);
    await expect(readPassphraseFile(file)).rejects.toMatchObject({
      code: 'keys.permissions',
      hints: expect.arrayContaining([`chmod 600 ${file}`]),
    });
  });

  it('may be a link, and is judged by the target of the link', async () => {
    await writeFile(file, 'correct horse\n', { mode: 0o600 });
    const link = join(folder, 'link');
    await symlink(file, link);
    expect((await readPassphraseFile(link)).reveal()).toBe('correct horse');
    await chmod(file, 0o644);
    await expect(readPassphraseFile(link)).rejects.toMatchObject({ code: 'keys.permissions' });
  });

  it.each([
    ['keys.empty-passphrase', 'empty', Buffer.from('\nsecond line')],
    ['keys.unstorable', 'not UTF-8', Buffer.from([0x70, 0xe4, 0x73, 0x0a])],
  ])('is refused with %s when it is %s', async (code, _title, bytes) => {
    await writeFile(file, bytes, { mode: 0o600 });
    await expect(readPassphraseFile(file)).rejects.toMatchObject({ code });
  });

  it('is reported as missing', async () => {
    await expect(readPassphraseFile(file)).rejects.toMatchObject({
      code: 'keys.no-passphrase',
      shortMessage: `there is no passphrase file ${file}`,
    });
  });
});
