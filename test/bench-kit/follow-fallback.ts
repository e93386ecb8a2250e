import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Followed {
  readonly code: number | null;
  /** What the person saw, prompts and complaints together, in order. */
  readonly screen: string;
}

/**
 * Follows a fallback script as a person does who has only bash: the answers are the lines that are typed, or
 * what each prompt is answered with.
 * Programs in `bin` come before those of the machine; nothing of this project is in its environment.
 */
export async function followFallback(
  fallback: string,
  answers: readonly string[] | ((asked: string) => string),
  where: { readonly folder: string; readonly bin?: string },
): Promise<Followed> {
  const path = join(where.folder, 'fallback.sh');
  writeFileSync(path, fallback, { mode: 0o600 });
  const PATH = [where.bin, process.env['PATH']].filter((part) => part !== undefined).join(':');
  const child = spawn('bash', [path], {
    cwd: where.folder,
    env: { PATH, HOME: where.folder, TMPDIR: where.folder, PAUSE: '0.2' },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  let screen = '';
  let answered = 0;
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      screen += text;
      if (typeof answers !== 'function' || stream !== child.stdout || !screen.endsWith('> ')) return;
      child.stdin.write(`${answers(screen.slice(answered))}\n`);
      answered = screen.length;
    });
  }
  child.stdin.on('error', () => undefined);
  if (typeof answers !== 'function') child.stdin.end(answers.map((line) => `${line}\n`).join(''));
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, screen };
}

/**
 * A program of that name that only writes down how it was called, an argument a line, calls parted by an
 * empty line.
 */
export function recorder(folder: string, name: string): { readonly bin: string; readonly log: string } {
  const bin = join(folder, 'bin');
  const log = join(folder, `${name}.log`);
  mkdirSync(bin, { recursive: true });
  writeFileSync(join(bin, name), `#!/bin/sh\n{ printf '%s\\n' "$@"; echo; } >> '${log}'\n`);
  chmodSync(join(bin, name), 0o755);
  writeFileSync(log, '');
  return { bin, log };
}
