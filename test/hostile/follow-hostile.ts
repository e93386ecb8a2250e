import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { recorder } from '../e2e/follow-fallback.ts';

/** What became of somebody who has followed a fallback script to its end. */
export interface Followed {
  readonly screen: string;
  /** How `cf` was called, each with its words. */
  readonly cf: readonly (readonly string[])[];
  /** Where it was followed. */
  readonly folder: string;
}

/**
 * Follows a fallback script with bash and says yes to everything; a `cf` writes down what it is asked for.
 */
export async function followAll(
  fallback: string,
  { folder: parent, token }: { readonly folder: string; readonly token: string },
): Promise<Followed> {
  const folder = join(parent, 'by-hand');
  mkdirSync(folder);
  const { bin } = recorder(folder, 'cf');
  const log = join(folder, 'cf.log');
  // Words may hold ends of lines, so they end with NUL, and so does a call.
  writeFileSync(join(bin, 'cf'), `#!/bin/sh\n{ printf '%s\\0' "$@"; printf '\\0'; } >> '${log}'\n`);
  writeFileSync(join(folder, 'fallback.sh'), fallback, { mode: 0o600 });
  const child = spawn('bash', ['fallback.sh'], {
    cwd: folder,
    env: { PATH: `${bin}:${process.env['PATH']}`, HOME: folder, TMPDIR: folder, PAUSE: '0.1' },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  let screen = '';
  let read = 0;
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    screen += text;
    if (!screen.endsWith('> ')) return;
    child.stdin.write(`${answerTo(screen.slice(read), token)}\n`);
    read = screen.length;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    screen += text;
  });
  child.stdin.on('error', () => undefined);
  await once(child, 'close');
  const calls = readFileSync(log, 'utf8').split('\0\0').slice(0, -1);
  return { screen, folder, cf: calls.map((call) => call.split('\0')) };
}

function answerTo(asked: string, token: string): string {
  if (asked.includes('access token for the')) return token;
  const [, name] = /Type the name (\S+) to go on/u.exec(asked) ?? [];
  if (name !== undefined) return name;
  if (asked.includes('yes: send ')) return 'yes';
  return '';
}
