import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { afterAll, afterEach, expect, test, vi } from 'vitest';
import type { LifeboatError } from '../../src/base/errors.ts';
import { Secret } from '../../src/base/secret.ts';
import { type TokenHelpers, type TokenSource, tokenReader } from '../../src/service/token-source.ts';
import { soon } from '../bench-kit/soon.ts';
import { json } from './fault-server.ts';
import { rejection, serve } from './serve.ts';

const folder = mkdtempSync(join(tmpdir(), 'lifeboat-token-'));
afterAll(() => rmSync(folder, { recursive: true }));
afterEach(() => vi.unstubAllEnvs());

function file(content: string | Buffer): string {
  const path = join(folder, 'token');
  writeFileSync(path, content);
  return path;
}

async function header(source: TokenSource, helpers: Partial<TokenHelpers> = {}): Promise<string> {
  const secret = await tokenReader(source, { keychain: async () => undefined, ...helpers })();
  return secret.reveal();
}

test('a bare token gets a scheme word, and an existing scheme word is kept', async () => {
  const cases: readonly (readonly [string, string | undefined, string])[] = [
    ['abc', undefined, 'Bearer abc'],
    ['bearer abc', undefined, 'bearer abc'],
    ['abc', 'none', 'abc'],
    ['bearer abc', 'none', 'bearer abc'],
    ['abc', 'Token', 'Token abc'],
    ['  abc\r\n', undefined, 'Bearer abc'],
    ['\ufeffabc\n', undefined, 'Bearer abc'],
  ];
  for (const [content, scheme, expected] of cases) {
    expect(await header({ file: file(content), scheme })).toBe(expected);
  }
});

test('the token comes from a variable, a command or the keychain', async () => {
  vi.stubEnv('LB_TEST_TOKEN', 'from-env');
  expect(await header({ env: 'LB_TEST_TOKEN' })).toBe('Bearer from-env');
  expect(await header({ command: 'echo bearer from-command' })).toBe('bearer from-command');
  const keychain = async () => new Secret('from-keychain');
  expect(await header({ keychain: true }, { keychain })).toBe('Bearer from-keychain');
});

test('the token is read each time', async () => {
  const reader = tokenReader({ file: file('one') }, { keychain: async () => undefined });
  expect((await reader()).reveal()).toBe('Bearer one');
  file('two');
  expect((await reader()).reveal()).toBe('Bearer two');
});

test('a token of 8 KiB is accepted', async () => {
  expect(await header({ file: file('x'.repeat(8192)) })).toHaveLength(8192 + 7);
});

const UNUSABLE: readonly (readonly [string, string | Buffer, string])[] = [
  ['an empty file', ' \n', 'is empty'],
  ['two lines', 'abc\ndef', 'holds more than one line'],
  ['an injected header', 'abc\r\nx-evil: 1', 'holds more than one line'],
  ['a control character', 'abc\u001bdef', 'do not fit into a header'],
  ['a NUL', 'abc\0def', 'do not fit into a header'],
  ['letters beyond ASCII', 'abcü', 'do not fit into a header'],
  ['bytes that are no text', Buffer.from([0x61, 0xff, 0xfe]), 'do not fit into a header'],
  ['a large file', 'a'.repeat(100_000), 'it is larger than 64 KiB'],
];
for (const [what, content, words] of UNUSABLE) {
  test(`${what} is refused as a token without being quoted`, async () => {
    const error = (await rejection(header({ file: file(content) }))) as LifeboatError;
    expect(error).toMatchObject({ code: 'credentials.missing', exitCode: 4 });
    expect(error.shortMessage).toContain(words);
    expect(inspect(error)).not.toContain('abc');
  });
}

test('a missing token source is named', async () => {
  const cases: readonly (readonly [TokenSource, string])[] = [
    [{ env: 'LB_NOT_SET' }, 'the token variable LB_NOT_SET is not set'],
    [{ file: join(folder, 'nope') }, `the token file ${join(folder, 'nope')} does not exist`],
    [{ file: folder }, `the token file ${folder} cannot be read: it is a folder`],
    [{ keychain: true }, 'the token in the keychain does not exist'],
    [{ command: 'true' }, 'the output of the token command is empty'],
  ];
  for (const [source, words] of cases) {
    expect(await rejection(header(source))).toMatchObject({
      code: 'credentials.missing',
      shortMessage: words,
    });
  }
  const keychain = () => Promise.reject(new Error('dbus tok-secret'));
  expect(inspect(await rejection(header({ keychain: true }, { keychain })))).not.toContain('tok-secret');
});

test('a command that prints more than the token is understood if exactly one line is the token', async () => {
  const command = "printf 'Getting OAuth token...\\nOK\\n\\nbearer abc.def\\n'";
  expect(await header({ command })).toBe('bearer abc.def');
  const two = "printf 'bearer one\\nbearer two\\n'";
  expect(await rejection(header({ command: two }))).toMatchObject({ code: 'credentials.missing' });
});

test('a failing command is quoted by its stderr, cleaned of the token and of escapes', async () => {
  const command = "echo tok-9d8c7b; printf 'login for tok-9d8c7b failed \\033[31mnow\\n' >&2; exit 3";
  const error = (await rejection(header({ command }))) as LifeboatError;
  expect(error.shortMessage).toBe(
    'the token command ended with 3: "login for [secret] failed \ufffd[31mnow"',
  );
  expect(inspect(error, { depth: 10, showHidden: true })).not.toContain('tok-9d8c7b');
});

test('endless stderr neither blocks a command nor fills the memory', async () => {
  const command = 'head -c 5000000 /dev/zero | tr "\\0" e >&2; echo abc';
  expect(await header({ command })).toBe('Bearer abc');
});

test('a command with endless output is ended', async () => {
  const error = (await rejection(header({ command: 'yes' }))) as LifeboatError;
  expect(error.shortMessage).toBe('the token command printed too much for a token');
});

test('a command that ended with too much output is refused as well', async () => {
  const command = 'head -c 100000 /dev/zero | tr "\\0" a';
  expect(await rejection(header({ command }))).toMatchObject({
    shortMessage: 'the token command printed too much for a token',
  });
});

test('a hanging command is ended with everything it started', async () => {
  const mark = join(folder, 'pid');
  const command = `sh -c 'echo $$ > ${mark}; exec sleep 300'; echo never`;
  const error = (await rejection(header({ command }, { commandTimeoutMs: 300 }))) as LifeboatError;
  expect(error.shortMessage).toBe('the token command took longer than 0.3 s');
  const pid = Number(readFileSync(mark, 'utf8'));
  await soon(() => expect(stillRuns(pid)).toBe(false));
});

test('what a command leaves running delays nothing, and is left alone', async () => {
  const mark = join(folder, 'left');
  const command = `sh -c 'echo $$ > ${mark}; exec sleep 300' & while [ ! -s ${mark} ]; do :; done; echo abc`;
  expect(await header({ command }, { commandTimeoutMs: 20_000 })).toBe('Bearer abc');
  const pid = Number(readFileSync(mark, 'utf8'));
  expect(stillRuns(pid)).toBe(true);
  process.kill(pid, 'SIGKILL');
});

test('hidden variables do not reach a token command', async () => {
  vi.stubEnv('LB_OTHER_TOKEN', 'hidden');
  const source = { command: `echo "got-\${LB_OTHER_TOKEN:-nothing}"` };
  expect(await header(source)).toBe('Bearer got-hidden');
  expect(await header(source, { hideEnv: ['LB_OTHER_TOKEN'] })).toBe('Bearer got-nothing');
});

test('a new token in the file lets a read continue after a 401', async () => {
  const token = tokenReader({ file: file('bearer old\n') }, { keychain: async () => undefined });
  const { client, server } = await serve(
    (request, socket) => {
      const good = request.headers['authorization'] === 'bearer new';
      if (!good) file('bearer new\n');
      socket.write(good ? json(200, []) : json(401, { error: 'expired', description: 'token expired' }));
    },
    { token },
  );
  await expect(client.backups()).resolves.toMatchObject({ value: [] });
  expect(server.requests.map((request) => request.headers['authorization'])).toEqual([
    'bearer old',
    'bearer new',
  ]);
});

/** A process that is dead but not yet reaped by its parent does not run. */
function stillRuns(pid: number): boolean {
  const { stdout } = spawnSync('ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8' });
  return /^[^Z]/u.test(stdout.trim());
}
