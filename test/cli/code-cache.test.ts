import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { brotliCompressSync } from 'node:zlib';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { openBundle } from '../../src/cli/code-cache.ts';

describe('the code of a bundle', () => {
  let folder: string;
  let env: NodeJS.ProcessEnv;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'lifeboat-code-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    env = { NODE_COMPILE_CACHE: join(folder, 'cache') };
  });

  const open = ({ answer = 42, stamp = 'one', part = 'runs' } = {}) => {
    const file = join(folder, 'main.cjs');
    writeFileSync(file, asBundle(`exports.answer = () => ${answer};`));
    return openBundle<{ answer(): number }>({ file, stamp, part, env });
  };
  /** What a start keeps, as names and inodes: a file that is written again is another one. */
  const keptBy = (bundle = open()) => {
    bundle.keep();
    const cache = env['NODE_COMPILE_CACHE'] ?? '';
    return readdirSync(cache).map((name) => [name, statSync(join(cache, name)).ino]);
  };
  const onlyFile = () => join(folder, 'cache', readdirSync(join(folder, 'cache'))[0] ?? '');

  it('is kept by the first start and used by the second', () => {
    const first = keptBy();
    expect(first).toHaveLength(1);
    expect(statSync(join(folder, 'cache')).mode & 0o777).toBe(0o700);
    const second = open();
    expect(second.exports.answer()).toBe(42);
    expect(keptBy(second)).toEqual(first);
  });

  it('contains what ran at the start, even if V8 has dropped it by the end of the command', () => {
    const file = join(folder, 'main.cjs');
    writeFileSync(file, asBundle(`exports.starts = () => 'ran at the start';`));
    const source = pathToFileURL(resolve(import.meta.dirname, '../../src/cli/code-cache.ts')).href;
    const command = `
      const { openBundle } = await import('${source}');
      const { exports, keep } = openBundle({ file: '${file}', stamp: 'one', part: 'runs', env: process.env });
      exports.starts();
      for (let times = 0; times < 3; times += 1) await new Promise((done) => { gc(); setImmediate(done); });
      keep();`;
    execFileSync(
      process.execPath,
      ['--expose-gc', '--stress-flush-code', '--input-type=module', '-e', command],
      {
        env: { ...process.env, ...env },
      },
    );
    expect(readFileSync(onlyFile(), 'latin1')).toContain('ran at the start');
  });

  it('is kept for each volume that was loaded, and used by the next start', () => {
    const file = join(folder, 'main.cjs');
    writeFileSync(file, asBundle(`exports.answer = () => volume('part1')().answer();`));
    writeFileSync(join(folder, 'part1.cjs'), '(() => ({ answer: () => 42 }))');
    writeFileSync(join(folder, 'part2.cjs'), 'not even a script');
    const start = () => openBundle<{ answer(): number }>({ file, stamp: 'one', part: 'runs', env });
    const first = start();
    expect(first.exports.answer()).toBe(42);
    const kept = keptBy(first);
    expect(kept).toHaveLength(2);
    const second = start();
    expect(second.exports.answer()).toBe(42);
    expect(keptBy(second)).toEqual(kept);
  });

  it('is kept for a packed volume like for any other', () => {
    const file = join(folder, 'main.cjs');
    writeFileSync(file, asBundle(`exports.answer = () => volume('part1')().answer();`));
    const packed = brotliCompressSync('(() => ({ answer: () => 42 }))');
    writeFileSync(join(folder, 'part1.cjs'), Buffer.concat([Buffer.of(0), packed]));
    const start = () => openBundle<{ answer(): number }>({ file, stamp: 'one', part: 'runs', env });
    const first = start();
    expect(first.exports.answer()).toBe(42);
    const kept = keptBy(first);
    expect(kept).toHaveLength(2);
    const second = start();
    expect(second.exports.answer()).toBe(42);
    expect(keptBy(second)).toEqual(kept);
  });

  it('is replaced for other content, even of the same length', () => {
    keptBy();
    const other = open({ answer: 43, stamp: 'two' });
    expect(other.exports.answer()).toBe(43);
    expect(keptBy(other)).toHaveLength(2);
  });

  it.each([
    ['cut', (bytes: Buffer) => bytes.subarray(0, 100)],
    [
      'changed in a byte',
      (bytes: Buffer) => Buffer.concat([bytes.subarray(0, -1), Buffer.of((bytes.at(-1) ?? 0) ^ 1)]),
    ],
    ['emptied', () => Buffer.alloc(0)],
  ])('is compiled again when it was %s', (_, damage) => {
    const before = keptBy();
    writeFileSync(onlyFile(), damage(readFileSync(onlyFile())));
    const bundle = open();
    expect(bundle.exports.answer()).toBe(42);
    expect(keptBy(bundle)).not.toEqual(before);
  });

  it('is neither read nor written where others can write', () => {
    const before = keptBy();
    writeFileSync(onlyFile(), 'planted');
    chmodSync(join(folder, 'cache'), 0o777);
    const bundle = open();
    expect(bundle.exports.answer()).toBe(42);
    expect(keptBy(bundle)).toEqual(before);
    expect(readFileSync(onlyFile(), 'utf8')).toBe('planted');
  });

  it('is not kept where nothing can be written, without a message', () => {
    env = { NODE_COMPILE_CACHE: '/dev/null/cache' };
    const bundle = open();
    bundle.keep();
    expect(bundle.exports.answer()).toBe(42);
  });

  it('is not kept without a command name, or where Node is set to keep none', () => {
    open({ part: '../runs' }).keep();
    open({ part: '' }).keep();
    env = { ...env, NODE_DISABLE_COMPILE_CACHE: '1' };
    open().keep();
    expect(readdirSync(folder)).toEqual(['main.cjs']);
  });
});

/** The form of the file that the build makes. */
function asBundle(body: string): string {
  return `(function(exports,require,module,__filename,__dirname,volume){${body}})`;
}
