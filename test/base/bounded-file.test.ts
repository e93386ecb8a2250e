import { spawn, spawnSync } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { writeChallenge } from '../../src/approvals/approval-files.ts';
import { dropLink, readBounded, readPlainFile, whyUnread } from '../../src/base/bounded-file.ts';

const folder = mkdtempSync(join(tmpdir(), 'lifeboat-files-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let made = 0;
function fresh(): string {
  made += 1;
  return join(folder, `${made}`);
}

function fileOf(content: string): string {
  const path = fresh();
  writeFileSync(path, content);
  return path;
}

function pipe(): string {
  const path = fresh();
  spawnSync('mkfifo', [path]);
  return path;
}

const whyNot = (path: string, most = 1024) => readBounded(path, most).then(String, whyUnread);

describe('a file named by the user', () => {
  test('is read completely up to the allowed size, and not at all if it is larger', async () => {
    expect((await readBounded(fileOf('x'.repeat(1024)), 1024)).length).toBe(1024);
    expect((await readBounded(fileOf(''), 1024)).length).toBe(0);
    expect(await whyNot(fileOf('x'.repeat(1025)))).toBe('it is larger than 1 KiB');
    const huge = fileOf('');
    truncateSync(huge, 10 ** 13);
    expect(await whyNot(huge)).toBe('it is larger than 1 KiB');
    expect(() => readPlainFile(huge, 1024)).toThrow('it is larger than 1 KiB');
    expect(readPlainFile(fileOf('abc'), 1024).toString()).toBe('abc');
  });

  test('may be a pipe, however slow its writer is', async () => {
    const path = pipe();
    const writer = spawn('sh', ['-c', '(printf a; sleep 0.3; printf b) > "$1"', 'sh', path]);
    expect((await readBounded(path, 1024)).toString()).toBe('ab');
    writer.kill();
    expect(() => readPlainFile(path, 1024)).toThrow('it is not a plain file');
  });

  test('is abandoned when it is an endless pipe, a pipe without a writer, or a folder', async () => {
    const path = pipe();
    const writer = spawn('sh', ['-c', 'exec yes > "$1"', 'sh', path]);
    expect(await whyNot(path)).toBe('it is larger than 1 KiB');
    writer.kill();
    expect(await whyNot(pipe())).toBe('nobody writes to it');
    expect(await whyNot(folder)).toBe('it is a folder');
    expect(await whyNot(join(folder, 'none'))).toBe('it does not exist');
  });
});

describe('a link at the place where a file is about to be written', () => {
  test('is replaced, and its target stays unchanged', () => {
    const victim = fileOf('as it was');
    const writes: readonly [string, (root: string) => void][] = [
      ['c.txt', (root) => writeChallenge(join(root, 'c.txt'), 'a request')],
    ];
    for (const [name, write] of writes) {
      const root = fresh();
      mkdirSync(dirname(join(root, name)), { recursive: true });
      symlinkSync(victim, join(root, name));
      write(root);
      expect(readFileSync(victim, 'utf8'), name).toBe('as it was');
      expect(readFileSync(join(root, name), 'utf8'), name).toMatch(/^a /u);
    }
    dropLink(victim);
    dropLink(join(folder, 'none'));
    expect(readFileSync(victim, 'utf8')).toBe('as it was');
  });
});
