import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, type TestContext, test } from 'vitest';
import { furnish, openMachine } from '../bench-kit/machine.ts';
import { builtProduct } from '../bench-kit/product.ts';
import { chunk, head, LAST_CHUNK, SHAPED, startDownloadServer } from '../service/download-server.ts';

const SHA256 = createHash('sha256').update(SHAPED).digest('hex');
const LENGTH = String(SHAPED.length);
const PAGE = '<!doctype html><title>Log in</title>';
const JSON_BODY = '{"error":"expired","description":"log in again"}';
const GZIP = gzipSync('a database in the clear');
const PLAIN = gzipSync(SHAPED);
const IN_CHUNKS = { 'transfer-encoding': 'chunked' };

const product = builtProduct({ cheapVault: true });

/** What the body of every download is: written whole, or by hand. */
type Body = (socket: Socket) => void;

function whole(
  bytes: Buffer | string,
  headers: Readonly<Record<string, string>> = {},
  status?: string,
): Body {
  return (socket) => {
    socket.write(head({ 'content-length': String(Buffer.byteLength(bytes)), ...headers }, status));
    socket.write(bytes);
  };
}

function inChunks(bytes: Buffer): Body {
  return (socket) => {
    socket.write(head(IN_CHUNKS));
    socket.write(chunk(bytes));
    socket.write(LAST_CHUNK);
  };
}

/** The connection ends behind these bytes. */
function broken(headers: Readonly<Record<string, string>>, bytes: Buffer | string, status?: string): Body {
  return (socket) => {
    socket.write(head({ connection: 'close', ...headers }, status));
    socket.end(bytes);
  };
}

/** Chunks for as long as the client takes them. */
function endless(socket: Socket): void {
  socket.write(head(IN_CHUNKS));
  const piece = chunk(Buffer.concat([SHAPED, ...Array.from({ length: 24 }, () => SHAPED)]));
  const pump = () => {
    while (!socket.destroyed && socket.write(piece));
  };
  socket.on('drain', pump);
  pump();
}

const NOT_AS_LISTED = expect.stringContaining('the service lists');
const NO_SIZE = expect.stringContaining('neither lists nor announces');
const NOT_ENCRYPTED = expect.stringContaining('is not encrypted');

describe.concurrent('a download that fails with exit 1 leaves nothing under its name', () => {
  const CASES: readonly (readonly [what: string, body: Body, words: string, listed?: number])[] = [
    ['a web page', whole(PAGE, { 'content-type': 'text/html' }), 'a web page instead of the backup'],
    ['a web page that says it is gzip', whole(PAGE, { 'content-type': 'application/gzip' }), 'a web page'],
    ['a web page in chunks', inChunks(Buffer.from(`\n\n  ${PAGE}`)), 'a web page'],
    ['JSON', whole(JSON_BODY), 'JSON instead of the backup'],
    ['anything else', whole('PK\u0003\u0004 is no backup'), 'does not begin like a backup'],
    ['an encoding', whole(PLAIN, { 'content-encoding': 'gzip' }), 'encoded as gzip'],
    ['an error', whole(JSON_BODY, {}, '502 Bad Gateway'), '(502): "log in again"'],
    ['a timeout', whole('', {}, '504 Gateway Timeout'), 'it was asked for 36 times, and never began'],
    ['nothing', whole(''), 'an empty file instead of the backup'],
    ['nothing in chunks', broken(IN_CHUNKS, LAST_CHUNK), 'an empty file'],
    ['a header and a salt', whole(SHAPED.subarray(0, 16)), '16 bytes without any content', 16],
    [
      'half a block too much',
      whole(Buffer.concat([SHAPED, Buffer.alloc(8)])),
      'inside a block of the cipher',
    ],
    ['half a block too little', inChunks(SHAPED.subarray(0, -8)), 'inside a block of the cipher'],
    [
      'a part that nobody asked for',
      broken({ 'content-length': '4' }, 'Salt', '206 Part'),
      'answers with 206',
    ],
    ['an end before the listed size', broken({}, SHAPED.subarray(0, 20_000)), 'ended with its connection'],
    ['chunks without a last one', broken(IN_CHUNKS, chunk(SHAPED.subarray(0, 4_096))), 'broke off'],
    ['less than announced', broken({ 'content-length': LENGTH }, SHAPED.subarray(0, 4_096)), 'broke off'],
    ['what has no end', endless, 'did not end after', 160],
  ];

  test.for(CASES)('%s', { timeout: 600_000 }, async ([_, body, words, listed = SHAPED.length], context) => {
    const { here, folder } = await person(context, listed, body);
    const file = join(folder, 'backup');
    const { code, stdout, stderr } = await here('--out', file);
    context.expect(stderr).toContain(words);
    context.expect([code, stdout]).toEqual([1, '']);
    // What came to its end and is no whole backup is kept under another name, which is said.
    for (const name of readdirSync(folder)) {
      context.expect(name).toBe('backup.not-whole');
      context.expect(stderr).toContain(`kept as ${file}.not-whole`);
    }
  });

  const PIPED = ['a web page', 'an encoding', 'nothing', 'half a block too little', 'less than announced'];
  test.for(CASES.filter(([what, , , listed]) => PIPED.includes(what) || listed !== undefined))(
    '%s, to standard output',
    { timeout: 600_000 },
    async ([_, body, , listed = SHAPED.length], context) => {
      const { run } = await person(context, listed, body);
      const { code, stdout, stderr } = await run('--out', '-');
      context.expect(code).toBe(1);
      context.expect(stderr).toMatch(/^lifeboat: /m);
      if (stdout === '') return;
      context.expect(stdout).toMatch(/^Salted__/);
      context.expect(stderr).toContain('not a whole backup');
    },
  );
});

describe.concurrent('a download that is saved says what was checked', () => {
  const LISTED = SHAPED.length;
  const CASES: readonly (readonly [what: string, body: Body, listed: number | undefined, found: object])[] = [
    [
      'as listed',
      whole(SHAPED),
      LISTED,
      { verdict: 'whole', listed: LISTED, announced: LISTED, warnings: [] },
    ],
    [
      'called gzip',
      whole(SHAPED, { 'content-encoding': 'gzip' }),
      LISTED,
      { verdict: 'whole', listed: LISTED, warnings: [] },
    ],
    ['in chunks', inChunks(SHAPED), LISTED, { verdict: 'whole', listed: LISTED, warnings: [] }],
    ['until it closes', broken({}, SHAPED), LISTED, { verdict: 'whole', listed: LISTED, warnings: [] }],
    ['of no size', whole(SHAPED), undefined, { verdict: 'whole', announced: LISTED, warnings: [] }],
    ['of size 0', whole(SHAPED), 0, { verdict: 'whole', announced: LISTED, warnings: [] }],
    ['of size -1', whole(SHAPED), -1, { verdict: 'whole', announced: LISTED, warnings: [] }],
    ['larger', whole(SHAPED), LISTED - 16, { verdict: 'other-size', warnings: [NOT_AS_LISTED] }],
    ['smaller', inChunks(SHAPED), LISTED + 16, { verdict: 'other-size', warnings: [NOT_AS_LISTED] }],
    ['unknown', inChunks(SHAPED), undefined, { verdict: 'size-unknown', warnings: [NO_SIZE] }],
    ['clear', whole(GZIP), GZIP.length, { verdict: 'not-encrypted', warnings: [NOT_ENCRYPTED] }],
    ['clear, larger', whole(GZIP), 9, { verdict: 'not-encrypted', warnings: [NOT_ENCRYPTED, NOT_AS_LISTED] }],
  ];

  test.for(CASES)('%s', async ([_, body, listed, found], context) => {
    const { here, folder } = await person(context, listed, body);
    const file = join(folder, 'backup');
    const { code, stdout, stderr } = await here('--out', file, '--json');
    context.expect(code, stderr).toBe(0);
    const bytes = readFileSync(file);
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    context.expect(JSON.parse(stdout)).toMatchObject({ path: file, bytes: bytes.length, sha256, ...found });
    const { warnings } = JSON.parse(stdout) as { warnings: string[] };
    context.expect(stderr.match(/^warning: .*$/gm) ?? []).toEqual(warnings.map((line) => `warning: ${line}`));
  });

  test('in one line, to a file and to standard output', async (context) => {
    const { expect } = context;
    const { run, folder } = await person(context, SHAPED.length, inChunks(SHAPED));
    const line = `, ${SHAPED.length} bytes), begins as an encrypted backup, SHA-256 ${SHA256}`;
    const file = join(folder, 'backup');
    const saved = await run('--out', file);
    expect(saved.stdout).toBe(`${file}\n`);
    expect(saved.stderr).toMatch(/^checked: size as listed \(/m);
    expect(saved.stderr).toContain(line);
    const piped = await run('--out', '-');
    expect(piped.code, piped.stderr).toBe(0);
    expect(piped.stdout).toBe(SHAPED.toString());
    expect(piped.stderr).toContain(line);
  });

  test('and if the size differs from the list, says what to do', async (context) => {
    const { run } = await person(context, 17, whole(SHAPED));
    const { code, stderr } = await run('--out', '-');
    context.expect(code).toBe(0);
    context.expect(stderr).toContain('checked: size not as listed');
    context.expect(stderr).toContain('hint: to read it to its last byte: lifeboat verify ');
  });
});

test('standard output holds only the bytes', async (context) => {
  const { run } = await person(context, SHAPED.length, whole(SHAPED));
  const { code, stderr } = await run('--out', '-', '--json');
  context.expect(stderr).toContain('-o json writes too');
  context.expect(code).toBe(2);
});

test('before the download is requested, a warning says that the service does not offer it', async (context) => {
  const { here } = await person(context, SHAPED.length, whole(JSON_BODY, {}, '412 Failed'), false);
  const { code, stderr } = await here('--out', '-');
  context.expect(stderr).toMatch(/^warning: the service does not offer backup 7 for download/);
  context.expect(code).toBe(1);
});

/**
 * Someone with a config for a service that gives every download this body. `run` downloads backup 7, and
 * `here` does so in this process.
 */
async function person(
  { onTestFinished }: Pick<TestContext, 'onTestFinished'>,
  listed: number | undefined,
  body: Body,
  downloadable = true,
) {
  const server = await startDownloadServer(listed, (_, socket) => body(socket), downloadable);
  const machine = openMachine(product);
  onTestFinished(async () => {
    await server.close();
    await machine.close();
  });
  furnish(machine, {
    config: `operator: { name: Robin }\nplatform: none\ninstances:\n  orders: { url: '${server.url}', revision: 62, token: { file: ./token } }\n`,
    passphrase: 'four words of mine',
    files: { token: 'tok-5b1e' },
  });
  const folder = join(machine.folder, 'downloads');
  mkdirSync(folder);
  const words = ['backups', 'download', '7'];
  const here = (...args: string[]) => machine.here(...words, ...args);
  const run = (...args: string[]) => machine.run(...words, ...args);
  return { folder, here, run };
}
