import { execFileSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { expect, onTestFinished, test } from 'vitest';
import type { CommandContext } from '../../../src/cli/context.ts';
import { readSecretFile } from '../../../src/cli/read-given-file.ts';
import { fileChecker, pathOf } from '../../../src/commands/app/check-file.ts';

/** A home with some files, and what looks at them. */
function openHome() {
  const home = mkdtempSync(join(tmpdir(), 'lifeboat-folder-'));
  onTestFinished(() => rmSync(home, { recursive: true }));
  const context = { env: { HOME: home }, stdin: Readable.from([]) } as unknown as CommandContext;
  const look = fileChecker(context);
  const { signal } = new AbortController();
  const put = (name: string, text: string | Buffer = 'a key of several words\n', mode = 0o600) => {
    writeFileSync(join(home, name), text);
    chmodSync(join(home, name), mode);
  };
  return {
    home,
    context,
    put,
    file: (typed: string) => look.secretFile(typed, signal),
    publicKey: (typed: string) => look.publicKeyFile(typed, signal),
  };
}

test('a file without a public key is refused as `audit verify --public-key` refuses it', async () => {
  const { put, publicKey } = openHome();
  const pem = generateKeyPairSync('ed25519').publicKey.export({ type: 'spki', format: 'pem' });
  put('lifeboat.pub', pem.toString());
  put('orders.key');
  expect(await publicKey('~/lifeboat.pub')).toBe('readable');
  await expect(publicKey('~/orders.key')).rejects.toMatchObject({
    shortMessage: expect.stringContaining('holds no ed25519 public key in PEM'),
  });
  await expect(publicKey('~/lost.pub')).rejects.toMatchObject({
    shortMessage: expect.stringContaining('cannot be read'),
  });
});

test('problems of a file are reported in the words of the command line', async () => {
  const { home, context, put, file } = openHome();
  put('good');
  put('empty', '');
  put('lines', 'one\ntwo\n');
  put('large', Buffer.alloc(70_000, 'k'));
  put('written', 'a key of several words\n', 0o666);
  mkdirSync(join(home, 'keys'));
  expect(await file('~/good')).toBe('readable');
  for (const name of ['empty', 'lines', 'large', 'written', 'keys', 'nowhere', 'good/below']) {
    const said = await readSecretFile(join(home, name), context).catch((thrown: unknown) => thrown);
    const { code, shortMessage } = said as { code: string; shortMessage: string };
    await expect(file(`~/${name}`), name).rejects.toMatchObject({ code, shortMessage });
    expect(shortMessage).not.toContain('several words');
  }
});

test('the content of a pipe is left for the reader of the key', async () => {
  const { home, file } = openHome();
  execFileSync('mkfifo', [join(home, 'pipe')]);
  expect(await file('~/pipe')).toBe('unread');
});

test('a path is a path in the file system: not the home of another user, and never standard input', () => {
  const env = { HOME: '/srv/somebody' };
  expect(pathOf(env, '~')).toBe('/srv/somebody');
  expect(pathOf(env, '~/a b')).toBe('/srv/somebody/a b');
  expect(pathOf(env, '/etc/../x')).toBe('/x');
  expect(pathOf(env, '-')).toBe(join(process.cwd(), '-'));
  expect(pathOf(env, '~other/x')).toBe(join(process.cwd(), '~other/x'));
});
