import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { expect, onTestFinished, test } from 'vitest';
import type { CommandContext } from '../../src/cli/context.ts';
import { readSecretFile } from '../../src/cli/read-given-file.ts';

const KEY = 'a key of several words';

/** Reads bytes both ways: from a file, and from standard input in chunks that cut characters in two. */
async function read(bytes: Buffer): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'lifeboat-secret-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'key');
  writeFileSync(path, bytes);
  const chunks = [bytes.subarray(0, 3), bytes.subarray(3)];
  const stdin = Readable.from(chunks.filter((chunk) => chunk.length > 0));
  const ways = [readSecretFile(path, contextOf(stdin)), readSecretFile('-', contextOf(stdin))];
  const ended = await Promise.allSettled(ways);
  return ended.map((end) => (end.status === 'fulfilled' ? end.value.reveal() : String(end.reason.code)));
}

function contextOf(stdin: Readable): CommandContext {
  return { stdin } as unknown as CommandContext;
}

test.for([
  ['nothing after it', KEY, KEY],
  ['a line end', `${KEY}\n`, KEY],
  ['the line end of Windows, and an empty line that an editor left', `${KEY}\r\n\r\n`, KEY],
  ['spaces that belong to it', ` ${KEY} \n`, ` ${KEY} `],
  ['characters of several bytes', 'clé-schlüssel-鍵\n', 'clé-schlüssel-鍵'],
])('a secret with %s is read unchanged', async ([, text = '', secret]) => {
  expect(await read(Buffer.from(text))).toEqual([secret, secret]);
});

test.for<[string, Buffer]>([
  ['in Latin-1', Buffer.from('schlüssel-one', 'latin1')],
  ['of raw bytes', Buffer.from('80819192a1a2b1b2c1c2d1d2', 'hex')],
  ['in UTF-16', Buffer.from(`\ufeff${KEY}`, 'utf16le')],
  ['in UTF-16 without a mark', Buffer.from(KEY, 'utf16le')],
  ['behind a byte order mark', Buffer.from(`\ufeff${KEY}\n`)],
  ['of two lines', Buffer.from(`${KEY}\nanother key\n`)],
  ['on the second line', Buffer.from(`\n${KEY}\n`)],
])('bytes that would become a different secret are refused: %s', async ([, bytes]) => {
  expect(await read(bytes)).toEqual(['input.not-a-secret', 'input.not-a-secret']);
});

test('a file that is too large for a secret is refused, and never truncated', async () => {
  expect(await read(Buffer.alloc(200_000, 'k'))).toEqual(['input.file', 'input.not-a-secret']);
});

test('an empty line is not a secret', async () => {
  expect(await read(Buffer.from('\r\n'))).toEqual(['input.empty', 'input.empty']);
});
