import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  ftruncateSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import process from 'node:process';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { bundleOf, makeEvidence, tampered } from '../audit/bundle/scene.ts';
import { useBenches } from '../bench-kit/test-bench.ts';
import { calmIn } from './calm.ts';
import { count } from './figures.ts';
import { measured } from './peak.ts';

const VERIFIER = resolve('src/audit/bundle/verify.mjs');
/** Two hundred lines that read files whole: empty lines by the million take thirty times their size. */
const MAX_MIB_ALONE = 2_500;
/** Just below what is read at all. */
const LARGE = 60 * 2 ** 20;
const hasProc = existsSync('/proc/self/status');
const folder = mkdtempSync(join(tmpdir(), 'lifeboat-bombs-'));
let bundle: Buffer;
beforeAll(async () => {
  bundle = await bundleOf(await makeEvidence(join(folder, 'home')));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The bundle with one file that is another. */
const withFile = (name: string, bytes: () => Buffer) => async (path: string) =>
  writeFileSync(path, await tampered(bundle, (files) => void files.set(name, bytes())));

const filled = (text: string, size = LARGE) => Buffer.alloc(size, text);
const deep = (by: number) => '['.repeat(by) + ']'.repeat(by);

/** Puts something at a path that a verifier is then to read. */
const BOMBS: Readonly<Record<string, (path: string) => void | Promise<void>>> = {
  'a bundle with a header that claims a terabyte': (path) => {
    const header = Buffer.from(bundle.subarray(0, 512));
    header[124] = 0x80;
    header.fill(0, 125, 136);
    header.writeUInt32BE(256, 128);
    header.fill(' ', 148, 156);
    header.write(
      `${header
        .reduce((sum, byte) => sum + byte, 0)
        .toString(8)
        .padStart(6, '0')}\0 `,
      148,
    );
    writeFileSync(path, Buffer.concat([header, bundle]));
  },
  'a bundle of a million files': (path) => {
    const file = openSync(path, 'w');
    for (let at = 0; at < 1_000; at += 1)
      writeSync(file, Buffer.concat(Array.from({ length: 1_000 }, () => bundle.subarray(0, 512))));
  },
  'a bundle of as many files as are read': (path) => {
    const empty = (name: string) => {
      const header = Buffer.from(bundle.subarray(0, 512));
      header.fill(0, 0, 100).write(name, 0);
      header.write('00000000000 ', 124);
      header.fill(' ', 148, 156);
      header.write(
        `${header
          .reduce((sum, byte) => sum + byte, 0)
          .toString(8)
          .padStart(6, '0')} \0`,
        148,
      );
      return header;
    };
    const all = Array.from({ length: LARGE / 512 }, (_, at) => empty(String(at).padStart(7, '0')));
    writeFileSync(path, Buffer.concat([...all, Buffer.alloc(1024)]));
  },
  'a bundle in gzip': (path) => writeFileSync(path, gzipSync(Buffer.concat([bundle, filled('\0', 2 ** 28)]))),
  'a bundle with a gigabyte of nothing at its end': (path) => {
    const file = openSync(path, 'w');
    writeSync(file, bundle);
    ftruncateSync(file, 10 ** 9);
  },
  'a manifest of sixty megabytes': withFile('manifest.note', () => filled('— a b\n\n')),
  'a list of files of sixty megabytes': withFile('SHA256SUMS', () => filled('a\n')),
  'a proof of sixty megabytes': withFile('proof.json', () => filled('{"nodes":[{"name":"a"},')),
  'a proof of lists in lists': withFile('proof.json', () => Buffer.from(deep(200_000))),
  'a proof of millions of sizes': withFile('proof.json', () =>
    Buffer.from(`{"leaves":{},"sizes":[${'1,'.repeat(LARGE / 8)}1],"nodes":[]}`),
  ),
  'a journal of one line': withFile('journal.jsonl', () => filled('0,')),
  'a journal of one line of numbers': withFile('journal.jsonl', () =>
    Buffer.from(`{"at":"","body":[${'0,'.repeat(LARGE / 2)}0],"by":"","seq":1,"stream":"run/a","type":""}\n`),
  ),
  'a journal of millions of lines': withFile('journal.jsonl', () => filled('{}\n')),
  'a journal of lists in lists': withFile('journal.jsonl', () => Buffer.from(`${deep(200_000)}\n{}\n`)),
  'a journal of entries without end': withFile('journal.jsonl', () =>
    filled('{"at":"","body":0,"by":"","seq":1,"stream":"run/a","type":"x"}\n'),
  ),
  'a transcript of sixty megabytes': withFile('transcript.jsonl', () => filled('x')),
  'a key of sixty megabytes': withFile('lifeboat.pub', () => filled('-----BEGIN PUBLIC KEY-----\n')),
  'a signed head of sixty megabytes': withFile('checkpoints/1.note', () => filled('— a b\n\n')),
  'an approval of sixty megabytes': withFile('approvals/a.1.sig', () => filled('x')),
  'an export of one line': (path) => writeFileSync(path, Buffer.from(`{"a":[${'0,'.repeat(LARGE / 2)}0]}\n`)),
  'an export of millions of lines': (path) => writeFileSync(path, filled('{}\n')),
  'a folder of many files': (path) => {
    mkdirSync(path);
    for (let at = 0; at < 20_000; at += 1) writeFileSync(join(path, String(at)), '');
  },
  'a folder of folders in folders': (path) => {
    mkdirSync(join(path, 'a/'.repeat(1_000)), { recursive: true });
  },
};

/** The stand-alone verifier takes a folder: what a tar gives, where it is one and gives a bundle. */
function unpack(path: string): string | undefined {
  const to = `${path}.folder`;
  if (statSync(path).isDirectory()) return undefined;
  mkdirSync(to);
  const { status } = spawnSync('tar', ['-xf', path, '-C', to], { timeout: 600_000, stdio: 'ignore' });
  return status === 0 && existsSync(join(to, 'manifest.note')) ? to : undefined;
}

describe.skipIf(!hasProc)('evidence of any size is verified or refused in little memory', () => {
  const benches = useBenches();

  test.for(Object.entries(BOMBS))('%s', { timeout: 1_800_000 }, async ([, make], context) => {
    const bench = await benches(context, { firstDay: true });
    const calm = calmIn(bench);
    const path = join(bench.folder, 'bomb');
    await make(path);
    const { code, stdout, stderr } = await calm('audit', 'verify', path);
    expect([1, 2]).toContain(code);
    expect(stdout + stderr).toMatch(/NOT INTACT|cannot be read|too large|nothing to verify/u);
    expect((stdout + stderr).length).toBeLessThan(100_000);

    const unpacked = unpack(path);
    const child = spawn(process.execPath, [VERIFIER, unpacked ?? path], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let said = '';
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => (said += text));
    const ended = once(child, 'close').then(([exit]) => ({ code: exit as number, stdout: said, stderr: '' }));
    const alone = await measured({ child, ended, stdout: () => said, stderr: () => '' });
    expect(unpacked === undefined ? [1, 2] : [1, 3], said.slice(0, 300)).toContain(alone.code);
    expect(alone.peak).toBeLessThan(MAX_MIB_ALONE);
    expect(said.length).toBeLessThan(100_000);
    count('sizes', { bombs: 1, commands: 1 });
  });
});
