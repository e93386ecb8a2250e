import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { CHECKS } from './checks/index.ts';
import { makeFolder, makeKeyFile, openServer, wrongOptions } from './kit.ts';
import type { Options } from './options.ts';
import { start } from './start.ts';
import { READONLY_TOKEN, TOKEN } from './wrong/server.ts';

describe('the command', () => {
  it('prints a line for each check and a summary, without any secret, and exits with 0', async () => {
    const server = await openServer(61);
    const keyFile = makeKeyFile();
    const readonlyFile = join(makeFolder(), 'token-readonly');
    writeFileSync(readonlyFile, READONLY_TOKEN);
    const args = ['--url', server.url, '--target', server.target, '--changes', 'all', '--key-file', keyFile];
    const { code, stdout, stderr } = await command([...args, '--readonly-token-file', readonlyFile], TOKEN);
    expect(stderr).toBe('revision 61 (found), changes: all\n');
    expect(stdout).toMatch(/^ok {3}backups\.create - .+\(4\.1 \(3\)\)$/m);
    expect(stdout).toMatch(/\n\d+ passed, 0 failed, \d+ skipped\n$/);
    expect(code).toBe(0);
    for (const secret of [TOKEN, READONLY_TOKEN, readFileSync(keyFile, 'utf8')])
      expect(stdout).not.toContain(secret);
  });

  it('exits with 1 when a rule is broken, and shows the answer without any secret', async () => {
    const server = await openServer(62, {
      after: (answer) => ({
        ...answer,
        body: answer.status === 200 ? { said: `\u001b[2J${TOKEN}` } : answer.body,
      }),
    });
    const { code, stdout } = await command(['--url', server.url, '--revision', '62'], TOKEN);
    expect(code).toBe(1);
    expect(stdout).toMatch(/^FAIL overview\.read/m);
    expect(stdout).toContain('[secret]');
    expect(stdout).not.toContain(TOKEN);
    expect(stdout).not.toContain('\u001b');
  });

  it('gives one object for each check when asked for JSON', async () => {
    const server = await openServer(62);
    const { code, stdout } = await command(['--url', server.url, '--json'], TOKEN);
    const objects = stdout
      .trim()
      .split('\n')
      .map((line): unknown => JSON.parse(line));
    expect(objects).toHaveLength(CHECKS.length);
    expect(objects[0]).toEqual({
      id: 'credentials.missing.list-backups',
      section: '5 (3)',
      title: 'V1 GET (list-backups) without a token is answered 401',
      outcome: 'pass',
      warnings: [],
    });
    expect(code).toBe(0);
  });

  it('exits with 2 and changes nothing when it cannot begin', async () => {
    const server = await openServer(62);
    const refusals: readonly (readonly [readonly string[], RegExp])[] = [
      [['--token', TOKEN], /--url is missing/],
      [['--url', server.url], /there is no token/],
      [['--url', server.url, TOKEN], /there is a word that belongs to no option/],
      [['--url', server.url, '--token', 'another-token'], /neither V1 nor V0 lets the token look/],
      [['--url', server.url, '--token', TOKEN, '--changes', 'some'], /--changes is one of none, safe, all/],
      [['--url', server.url, '--token', TOKEN, '--target', server.url], /the target is the instance itself/],
      [['--url', new URL(server.url).origin, '--token', TOKEN], /the url names no instance/],
      [['--url', server.url, '--token', TOKEN, '--only', 'nothing.'], /--only leaves no check/],
      [['--url', 'http://127.0.0.1:9/service-instances/x', '--token', TOKEN], /no answer to GET/],
    ];
    const ends = refusals.map(async ([args, words]) => ({ words, end: await command(args) }));
    for (const { words, end } of await Promise.all(ends)) {
      expect(end.stderr).toMatch(words);
      expect(end.stderr).not.toContain(TOKEN);
      expect(end.stdout).toBe('');
      expect(end.code).toBe(2);
    }
  });

  it('overwrites nothing on another machine without the name of the instance', async () => {
    const server = await openServer(62);
    const elsewhere = (meant?: string): Options => ({
      ...wrongOptions(server),
      target: { origin: 'https://dashboard.example.com', instance: 'x' },
      ...(meant === undefined ? {} : { meant }),
    });
    await expect(start(elsewhere())).rejects.toThrow('say --i-mean-it with the name of the instance');
    await expect(start(elsewhere('order'))).rejects.toThrow('--i-mean-it is not the name of the instance');
    await expect(start(elsewhere('orders'))).resolves.toMatchObject({ level: 'all' });
  });
});

/** Runs the command in a process of its own. */
function command(args: readonly string[], token?: string) {
  const script = join(import.meta.dirname, 'run.ts');
  const { LIFEBOAT_CONFORMANCE_TOKEN: _, ...rest } = process.env;
  const env = token === undefined ? rest : { ...rest, LIFEBOAT_CONFORMANCE_TOKEN: token };
  return new Promise<{ readonly code: unknown; readonly stdout: string; readonly stderr: string }>(
    (resolve) => {
      execFile(process.execPath, [script, ...args], { env }, (error, stdout, stderr) => {
        resolve({ code: error === null ? 0 : error.code, stdout, stderr });
      });
    },
  );
}
