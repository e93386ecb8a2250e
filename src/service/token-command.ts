import { type ChildProcessByStdio, spawn } from 'node:child_process';
import type { Readable } from 'node:stream';
import { EXIT, LifeboatError } from '../base/errors.ts';
import { redact } from '../base/redact.ts';
import { Secret } from '../base/secret.ts';
import { show } from '../base/text.ts';

/** A header line of more than this is refused by every router there is. */
export const TOKEN_LIMIT_BYTES = 64 * 1024;
const STDERR_LIMIT_BYTES = 4 * 1024;
/** How long what the shell printed may take to arrive after it has ended. */
const PIPES_MS = 250;

export interface TokenCommandOptions {
  readonly hideEnv: readonly string[];
  readonly timeoutMs: number;
}

type Child = ChildProcessByStdio<null, Readable, Readable>;

/**
 * Runs a command through the shell and gives what it printed. When it fails, prints too much or takes too
 * long, rejects with `credentials.missing`; the message quotes the first bytes of its stderr, cleaned of
 * whatever it had printed as token.
 */
export async function runTokenCommand(command: string, options: TokenCommandOptions): Promise<Secret> {
  const env = { ...process.env };
  for (const name of options.hideEnv) delete env[name];
  const child = spawn(command, {
    shell: true,
    // A group of its own, so that a timeout also ends what the shell has started.
    detached: process.platform !== 'win32',
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
    windowsHide: true,
  });
  const output = collect(child.stdout, TOKEN_LIMIT_BYTES, () => end(child));
  const complaint = collect(child.stderr, STDERR_LIMIT_BYTES);
  const timeout = AbortSignal.timeout(options.timeoutMs);
  const exit = await ended(child, timeout);

  if (timeout.aborted) throw failed(`took longer than ${options.timeoutMs / 1000} s`);
  if (output.overflowed()) throw failed('printed too much for a token');
  if (exit === 0) return new Secret(output.text());
  const printed = output
    .text()
    .split(/\s+/u)
    .filter((word) => word.length > 5)
    .map((word) => new Secret(word));
  const words = show(redact(complaint.text(), printed).trim(), 200);
  throw failed(`ended with ${exit}${words === '' ? '' : `: "${words}"`}`);
}

function collect(stream: Readable, limit: number, onOverflow?: () => void) {
  const chunks: Buffer[] = [];
  let size = 0;
  stream.on('data', (chunk: Buffer) => {
    if (size <= limit) chunks.push(chunk);
    size += chunk.length;
    if (size > limit) onOverflow?.();
  });
  return {
    text: () => Buffer.concat(chunks).subarray(0, limit).toString('utf8'),
    overflowed: () => size > limit,
  };
}

function ended(child: Child, stop: AbortSignal): Promise<number | string> {
  return new Promise((resolve) => {
    const letGo = () => {
      child.stdout.destroy();
      child.stderr.destroy();
    };
    const onStop = () => {
      end(child);
      // A grandchild in a session of its own may still hold the pipes; nobody waits for it.
      letGo();
    };
    stop.addEventListener('abort', onStop, { once: true });
    const finish = (exit: number | string) => {
      stop.removeEventListener('abort', onStop);
      resolve(exit);
    };
    child.once('error', (error: NodeJS.ErrnoException) => finish(error.code ?? 'an error'));
    // What it leaves running (an agent, a connection that is kept) may hold the pipes for ever, and is none
    // of ours.
    child.once('exit', () => setTimeout(letGo, PIPES_MS).unref());
    child.once('close', (code, signal) => finish(code ?? signal ?? 'an error'));
  });
}

function end(child: Child): void {
  if (child.pid === undefined) return;
  try {
    if (process.platform === 'win32') child.kill('SIGKILL');
    else process.kill(-child.pid, 'SIGKILL');
  } catch {
    // It ended by itself a moment ago.
  }
}

function failed(what: string): LifeboatError {
  return new LifeboatError('credentials.missing', `the token command ${what}`, {
    hints: ['run the command by hand to see why', 'nothing was sent: it is safe to try again'],
    exitCode: EXIT.credentials,
  });
}
