import { type ChildProcess, spawn } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

/** How a command ended. `stdout` holds its first 64 KiB, `stderr` its first 4. */
export interface Ended {
  /** Its exit code; else the signal that ended it, `timeout`, `too much`, or why it could not be started. */
  readonly exit: number | string;
  readonly stdout: string;
  readonly stderr: string;
}

interface ShellOptions {
  readonly env: NodeJS.ProcessEnv;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** What it reads on its standard input; without it there is nothing to read. */
  readonly input?: string;
  /** It is ended, as `too much`, when it prints more than is kept. */
  readonly endsWhenFull?: boolean;
  /** What it leaves running, such as an agent, goes on; it is only not waited for. */
  readonly leavesOthers?: boolean;
}

const STDOUT_LIMIT = 64 * 1024;
const STDERR_LIMIT = 4 * 1024;
/** How long what the shell printed may take to arrive after it has ended. */
const PIPES_MS = 250;

/**
 * Runs a command by `/bin/sh` in a process group of its own, so that nothing that it has started outlives it
 * but where `leavesOthers` says so. It is killed, with its group, when its time is over and when the signal
 * is aborted; then this rejects with the signal's reason.
 */
export async function runShell(
  command: string,
  { env, timeoutMs, signal, input, endsWhenFull = false, leavesOthers = false }: ShellOptions,
): Promise<Ended> {
  signal.throwIfAborted();
  const child = spawn(command, {
    shell: true,
    detached: process.platform !== 'win32',
    env,
    stdio: [input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
    windowsHide: true,
  });
  // A command need not read to the end, or at all.
  child.stdin?.on('error', () => undefined).end(input);
  const full = new AbortController();
  const stdout = beginningOf(child.stdout, STDOUT_LIMIT, () => full.abort());
  const stderr = beginningOf(child.stderr, STDERR_LIMIT);
  const late = AbortSignal.timeout(timeoutMs);
  const stop = AbortSignal.any([signal, late, ...(endsWhenFull ? [full.signal] : [])]);
  const exit = await ended(child, stop, leavesOthers);
  signal.throwIfAborted();
  // It may have ended well before all that it printed was seen.
  const isTooMuch = endsWhenFull && full.signal.aborted;
  return { exit: isTooMuch ? 'too much' : exit, stdout: stdout(), stderr: stderr() };
}

/**
 * The first bytes of a stream; the rest is read and dropped, so that nobody waits for a full pipe. `onMore`
 * hears of the rest.
 */
export function beginningOf(
  stream: ChildProcess['stdout'],
  limit: number,
  onMore?: () => void,
): () => string {
  const chunks: Buffer[] = [];
  let size = 0;
  stream?.on('data', (chunk: Buffer) => {
    if (size < limit) chunks.push(chunk.subarray(0, limit - size));
    size += chunk.length;
    if (size > limit) onMore?.();
  });
  return () => Buffer.concat(chunks).toString('utf8');
}

function ended(child: ChildProcess, stop: AbortSignal, leavesOthers: boolean): Promise<number | string> {
  return new Promise((resolve) => {
    let exit: number | string | undefined;
    const letGo = () => {
      child.stdout?.destroy();
      child.stderr?.destroy();
    };
    const onStop = () => {
      exit ??= 'timeout';
      endGroup(child);
      // A grandchild in a session of its own may still hold the pipes; nobody waits for it.
      letGo();
    };
    if (stop.aborted) onStop();
    stop.addEventListener('abort', onStop, { once: true });
    child.once('error', (error: NodeJS.ErrnoException) => {
      exit ??= error.code ?? 'an error';
      stop.removeEventListener('abort', onStop);
      resolve(exit);
    });
    child.once('exit', (code, name) => {
      exit ??= code ?? name ?? 'an error';
      // What the shell has left in the background would hold the pipes.
      if (leavesOthers) setTimeout(letGo, PIPES_MS).unref();
      else endGroup(child);
    });
    child.once('close', () => {
      stop.removeEventListener('abort', onStop);
      resolve(exit ?? 'an error');
    });
  });
}

function endGroup(child: ChildProcess): void {
  if (child.pid === undefined) return;
  try {
    if (process.platform === 'win32') child.kill('SIGKILL');
    else process.kill(-child.pid, 'SIGKILL');
  } catch {
    // The group is gone already.
  }
}

/** Where a shell with this PATH finds a program; undefined where it does not. */
export function onPath(program: string, { PATH = '' }: NodeJS.ProcessEnv): string | undefined {
  const places = PATH.split(delimiter)
    .filter((folder) => folder !== '')
    .map((folder) => join(folder, program));
  return places.find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
