import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { gzipSync } from 'node:zlib';
import { describe, expect, type TestContext, test } from 'vitest';
import { KEY, rawEntry, seal } from '../backup/kit.ts';
import { useBenches } from '../bench-kit/test-bench.ts';
import { calmIn } from './calm.ts';

const DEEP = 200_000;
const hasProc = existsSync('/proc/self/status');

describe.skipIf(!hasProc)('whatever the size, the process stays small and says what is wrong', () => {
  const benches = useBenches();

  async function open(context: Pick<TestContext, 'onTestFinished'>) {
    const bench = await benches(context);
    return { ...bench, calm: calmIn(bench) };
  }

  const zeros = Buffer.alloc(2 ** 26);
  const bombs: Readonly<Record<string, () => Buffer>> = {
    'a gzip bomb of a thousand to one': () => gzipSync(Buffer.alloc(2 ** 28)),
    'a bomb in four parts': () => Buffer.concat(Array.from({ length: 4 }, () => gzipSync(zeros))),
    'a bomb in a bomb': () =>
      gzipSync(gzipSync(Buffer.concat(Array.from({ length: 8 }, () => gzipSync(zeros))))),
    'a tar that claims a terabyte': () => gzipSync(rawEntry('0', Buffer.from('x'), 2 ** 33 - 1)),
    'a tar whose long name is a gigabyte': () => gzipSync(rawEntry('L', Buffer.from('x'), 2 ** 30)),
    'a tar of pax records without end': () =>
      gzipSync(Buffer.concat(Array.from({ length: 60 }, () => rawEntry('x', Buffer.alloc(2 ** 20, '9'))))),
    'a name in the gzip header that never ends': () =>
      Buffer.concat([Buffer.from('1f8b0808000000000003', 'hex'), Buffer.alloc(2 ** 26, 'n')]),
    'a comment and extra fields that never end': () =>
      Buffer.concat([Buffer.from('1f8b0814000000000003ffff', 'hex'), Buffer.alloc(2 ** 26, 'n')]),
  };

  test.for(Object.entries(bombs))('to verify: %s', { timeout: 1_200_000 }, async ([, make], context) => {
    const { calm, folder } = await open(context);
    writeFileSync(join(folder, 'k'), KEY.reveal(), { mode: 0o600 });
    writeFileSync(join(folder, 'bomb'), await seal(make()));
    const { code, stdout, stderr } = await calm(
      'verify',
      join(folder, 'bomb'),
      '--key-file',
      join(folder, 'k'),
    );
    expect([0, 1]).toContain(code);
    expect(stdout + stderr).toMatch(/intact|empty|readable|corrupt|truncated|trailing/u);
    const listed = readdirSync(folder);
    expect(listed.filter((name) => name.includes('part'))).toEqual([]);
  });

  /** What a service writes on the wire instead of an answer; `more` is written for as long as it is read. */
  const floods: Readonly<Record<string, { readonly head: string; readonly more?: string }>> = {
    'a list as deep as it is long': { head: body('['.repeat(DEEP) + ']'.repeat(DEEP)) },
    'objects in objects': { head: body(`${'{"a":'.repeat(DEEP)}1${'}'.repeat(DEEP)}`) },
    'a list in a proper row': {
      head: body(`[{"id":1,"status":"done","x":${'['.repeat(DEEP)}${']'.repeat(DEEP)}}]`),
    },
    'JSON without end': { head: chunked(200), more: '5\r\n[1,1,\r\n'.repeat(5_000) },
    'an error without end': { head: chunked(404), more: '5\r\nsorry\r\n'.repeat(5_000) },
    'headers without end': { head: 'HTTP/1.1 200 OK\r\n', more: 'x-more: and more\r\n'.repeat(1_000) },
    'a status line without end': { head: 'HTTP/1.1 200 ', more: 'OK'.repeat(10_000) },
    'a length that is not true': { head: 'HTTP/1.1 200 OK\r\ncontent-length: 9999999999999\r\n\r\n[' },
    'two lengths': { head: 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\n[]' },
    'a length below nothing': { head: 'HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\n[]' },
    'an id that no number holds': {
      head: body('[{"id":1e400,"status":"done"},{"id":9007199254740993,"status":"done"}]'),
    },
    'numbers and words of megabytes': { head: body(`[${'9'.repeat(4_000_000)},"${'x'.repeat(3_000_000)}"]`) },
    'rows by the hundred thousand': {
      head: body(`[${'{"id":1,"status":"done"},'.repeat(300_000)}{"id":1,"status":"done"}]`),
    },
  };

  test.for(Object.entries(floods))('to read: %s', { timeout: 1_800_000 }, async ([, flood], context) => {
    const { calm, env } = await open(context);
    const origin = await pour(context, flood);
    const config = readFileSync(env['LIFEBOAT_CONFIG'] ?? '', 'utf8').replace(/http:\/\/127[^/]*/gu, origin);
    writeFileSync(env['LIFEBOAT_CONFIG'] ?? '', config);
    for (const words of [
      ['backups', 'list', '--json'],
      ['backups', 'create', '--yes'],
    ]) {
      const { code } = await calm(...words, '--instance', 'orders');
      expect([0, 1, 3, 5]).toContain(code);
    }
  });

  test('as a config', { timeout: 1_200_000 }, async (context) => {
    const { calm, env } = await open(context);
    const path = env['LIFEBOAT_CONFIG'] ?? '';
    const aliases = Array.from({ length: 30 }, (_, at) => `a${at}: &a${at} [${`*a${at - 1},`.repeat(10)}]`);
    const configs = [
      ['a0: &a0 [x]', ...aliases.slice(1)].join('\n'),
      `instances: ${'['.repeat(20_000)}`,
      `instances: ${'{a: '.repeat(20_000)}`,
      `${'? '.repeat(20_000)}x`,
      `instances: "${'x'.repeat(20_000_000)}"`,
      'a: &a [*a]',
      '- '.repeat(20_000),
    ];
    for (const text of configs) {
      writeFileSync(path, text);
      const { code, stderr } = await calm('backups', 'list');
      expect(code, stderr.slice(0, 300)).toBe(2);
    }
  });

  test('in the journal and in an export', { timeout: 1_800_000 }, async (context) => {
    const { calm, run, home, folder } = await open(context);
    expect((await run('run', 'back-up-and-verify', '--instance', 'orders', '--yes')).code).toBe(0);
    const bodies = [
      '['.repeat(DEEP) + ']'.repeat(DEEP),
      `"${'x'.repeat(2 ** 23)}"`,
      `{"event":${'{"a":'.repeat(DEEP)}1${'}'.repeat(DEEP)}}`,
    ];
    for (const text of bodies) {
      const db = new DatabaseSync(join(home, 'lifeboat.db'));
      db.exec('DROP TRIGGER IF EXISTS entries_no_update');
      for (const { name } of db.prepare("SELECT name FROM sqlite_master WHERE type = 'trigger'").all())
        db.exec(`DROP TRIGGER "${String(name)}"`);
      const { changes } = db
        .prepare("UPDATE entries SET body = ? WHERE seq = 3 AND stream LIKE 'run/%'")
        .run(text);
      db.close();
      expect(changes).toBe(1);
      for (const words of [
        ['audit', 'verify'],
        ['audit', 'show'],
        ['audit', 'show', '--json'],
        ['runs'],
        ['report'],
        ['followups'],
        ['audit', 'export'],
      ])
        expect((await calm(...words)).code, words.join(' ')).not.toBe(130);
      const file = join(folder, 'export.jsonl');
      writeFileSync(file, `${text}\n{"head":${text}}\n`);
      expect((await calm('audit', 'verify', file)).code).toBe(1);
    }
  });
});

function body(json: string): string {
  return `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${json.length}\r\nconnection: close\r\n\r\n${json}`;
}

function chunked(status: number): string {
  return `HTTP/1.1 ${status} X\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n`;
}

/** A server that sends the same to every client, as long as it listens. */
async function pour(
  { onTestFinished }: Pick<TestContext, 'onTestFinished'>,
  { head, more }: { readonly head: string; readonly more?: string },
): Promise<string> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket.on('error', () => undefined));
    const go = () => {
      while (more !== undefined && !socket.destroyed && socket.write(more));
    };
    socket.once('data', () => {
      socket.on('drain', go);
      if (head === '' || socket.write(head)) go();
      if (more === undefined) socket.end();
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
