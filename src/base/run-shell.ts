import { type ChildProcess, spawn } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { timeLimit } from './time-limit.ts';

/** `stdout` holds the first 64 KiB, `stderr` the first 4. */
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
  readonly input?: string;
  /** End it, with `too much`, if it prints more than is kept. */
  readonly endsWhenFull?: boolean;
  /** Processes that it leaves running, such as an agent, are neither ended nor waited for. */
  readonly leavesOthers?: boolean;
}

export const STDOUT_LIMIT = 64 * 1024;
export const STDERR_LIMIT = 4 * 1024;
/** How long output may take to arrive after the shell has ended. */
const PIPES_MS = 250;

/**
 * Runs a command with `/bin/sh` in its own process group, so that nothing it started outlives it, unless
 * `leavesOthers` is set or it has its own session. It is over when the shell ends, even if other processes
 * hold its output. At the time limit or on abort it is killed with its group; on abort this rejects with the
 * signal's reason.
 */
export function runShell(command: string, options: ShellOptions): Promise<Ended> {
  return runChild([command], true, options);
}

/** As `runShell` without a shell: no character is special. `exit` is `ENOENT` if there is no such program. */
export function runProgram(argv: readonly string[], options: ShellOptions): Promise<Ended> {
  return runChild(argv, false, options);
}

async function runChild(
  [program = '', ...args]: readonly string[],
  shell: boolean,
  { env, timeoutMs, signal, input, endsWhenFull = false, leavesOthers = false }: ShellOptions,
): Promise<Ended> {
  signal.throwIfAborted();
  const child = spawn(program, args, {
    shell,
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
  const late = timeLimit(timeoutMs);
  const stop = AbortSignal.any([signal, late, ...(endsWhenFull ? [full.signal] : [])]);
  const { exit, isStopped } = await ended(child, stop, leavesOthers);
  if (isStopped) signal.throwIfAborted();
  // It may have ended normally before all of its output was read.
  const isTooMuch = endsWhenFull && full.signal.aborted;
  return { exit: isTooMuch ? 'too much' : exit, stdout: stdout(), stderr: stderr() };
}

/** The first bytes. The rest is read and dropped, so that the writer never blocks, and calls `onMore`. */
function beginningOf(stream: ChildProcess['stdout'], limit: number, onMore?: () => void): () => string {
  const chunks: Buffer[] = [];
  let size = 0;
  stream?.on('data', (chunk: Buffer) => {
    if (size < limit) chunks.push(chunk.subarray(0, limit - size));
    size += chunk.length;
    if (size > limit) onMore?.();
  });
  return () => Buffer.concat(chunks).toString('utf8');
}

interface End {
  readonly exit: number | string;
  readonly isStopped: boolean;
}

function ended(child: ChildProcess, stop: AbortSignal, leavesOthers: boolean): Promise<End> {
  return new Promise((resolve) => {
    let end: End | undefined;
    const letGo = () => {
      child.stdout?.destroy();
      child.stderr?.destroy();
    };
    const onStop = () => {
      // A command that ended by itself is over; the `exit` handler did the rest.
      if (end !== undefined) return;
      end = { exit: 'timeout', isStopped: true };
      endGroup(child);
      letGo();
    };
    if (stop.aborted) onStop();
    stop.addEventListener('abort', onStop, { once: true });
    const close = (end: End) => {
      stop.removeEventListener('abort', onStop);
      resolve(end);
    };
    child.once('error', (error: NodeJS.ErrnoException) =>
      close(end ?? { exit: error.code ?? 'an error', isStopped: false }),
    );
    child.once('exit', (code, name) => {
      end ??= { exit: code ?? name ?? 'an error', isStopped: false };
      if (!leavesOthers) endGroup(child);
      // Processes in the background or in their own session could keep the pipes open. The output is in the
      // pipes by now, and is read before this runs even if this process was stopped.
      setTimeout(() => setImmediate(letGo), PIPES_MS).unref();
    });
    child.once('close', () => close(end ?? { exit: 'an error', isStopped: false }));
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

/** Looks a program, which may be a path, up in this PATH. */
export function onPath(program: string, { PATH = '' }: NodeJS.ProcessEnv): string | undefined {
  if (program.includes('/')) return isExecutable(program) ? program : undefined;
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

/**
 * The environment for a program of the config or the platform's tool: this process's, without `hidden` (the
 * variables that hold tokens) and Lifeboat's own variables.
 */
export function childEnvironment(
  hidden: readonly string[],
  added: Readonly<Record<string, string>> = {},
  env: NodeJS.ProcessEnv = process.env,
): NodeJS.ProcessEnv {
  const shown = Object.entries(env).filter(
    ([name]) => !name.startsWith('LIFEBOAT_') && !hidden.includes(name),
  );
  return { ...Object.fromEntries(shown), ...added };
}
