import { type ChildProcess, spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { LifeboatError } from '../../base/errors.ts';
import { onPath } from '../../base/run-shell.ts';
import { show } from '../../base/text.ts';

export interface EngineUser {
  readonly uid: number;
  readonly gid: number;
}

/** The programs die with this process, and never run as root. */
export interface Launcher {
  /** Undefined for the user who started the lab. */
  readonly user: EngineUser | undefined;
  /** Starts a long-running program. Its stderr is a pipe; Ctrl-C in the terminal does not reach it. */
  start(program: string, args: readonly string[]): ChildProcess;
  /** Runs a program to its end and returns its output; rejects with `lab.postgres` and its last lines. */
  run(program: string, args: readonly string[], signal?: AbortSignal): Promise<string>;
}

/** PostgreSQL refuses to run as root, so root runs it as `nobody`, a user that every system has. */
export async function engineUser(): Promise<EngineUser | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  const passwd = await readFile('/etc/passwd', 'utf8');
  const [, , uid, gid] = /^nobody:.*$/mu.exec(passwd)?.[0].split(':') ?? [];
  if (uid === undefined || gid === undefined) {
    throw new LifeboatError(
      'lab.postgres',
      'PostgreSQL does not run as root, and this machine has no user "nobody"',
      {
        hints: ['start the lab as an ordinary user'],
      },
    );
  }
  // macOS writes them as -2.
  return { uid: Number(uid) >>> 0, gid: Number(gid) >>> 0 };
}

/** Ties programs to this process by `setpriv --pdeathsig` (Linux), else by a watchdog shell on a pipe. */
export async function makeLauncher(user: EngineUser | undefined): Promise<Launcher> {
  const setpriv = await findSetpriv();
  const start = (program: string, args: readonly string[]): ChildProcess => {
    if (setpriv === undefined) return startWatched(program, args, user);
    const identity =
      user === undefined ? [] : [`--reuid=${user.uid}`, `--regid=${user.gid}`, '--clear-groups'];
    const command = ['/bin/sh', '-c', IF_PARENT_LIVES, String(process.pid), program, ...args];
    return spawn(setpriv, [...identity, '--pdeathsig=INT', '--', ...command], CHILD);
  };
  const run = async (program: string, args: readonly string[], signal?: AbortSignal) => {
    signal?.throwIfAborted();
    const child = start(program, args);
    const stop = () => child.kill('SIGINT');
    signal?.addEventListener('abort', stop, { once: true });
    try {
      const [code, output, complaint] = await Promise.all([
        exitOf(child),
        child.stdout === null ? '' : text(child.stdout),
        child.stderr === null ? '' : text(child.stderr),
      ]);
      if (code === 0) return output;
      throw postgresError(`${program} ended with ${code}`, complaint.split('\n'));
    } finally {
      signal?.removeEventListener('abort', stop);
    }
  };
  return { user, start, run };
}

/** With PostgreSQL's own last lines. */
export function postgresError(what: string, lines: readonly string[], cause?: unknown): LifeboatError {
  const said = lines.map((line) => line.trim()).filter((line) => line !== '');
  const last = said.at(-1);
  return new LifeboatError('lab.postgres', `PostgreSQL cannot start: ${what}`, {
    hints: [
      ...(last === undefined ? [] : [`it says: ${show(last, 200)}`]),
      'the lab has no substitute for a database: a rehearsal that restores nothing proves nothing',
      'LIFEBOAT_PGBIN=<folder with initdb and postgres> uses another PostgreSQL, 15 or newer',
    ],
    evidence: { log: said.slice(-10) },
    cause,
  });
}

/** The exit code or signal name; rejects if the program could not be started. */
export function exitOf(child: ChildProcess): Promise<number | string> {
  return new Promise((resolve, reject) => {
    child.once('error', (error) => reject(postgresError(error.message, [], error)));
    child.once('exit', (code, signal) => resolve(code ?? signal ?? 'unknown'));
  });
}

/* Its own session, so that Ctrl-C ends the lab first, and the lab then ends its databases. */
const CHILD = {
  detached: true,
  stdio: ['ignore', 'pipe', 'pipe'] as ['ignore', 'pipe', 'pipe'],
  env: { PATH: process.env['PATH'] ?? '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' },
};

/** The kernel reports a parent's death only from now on: check that it still lives. */
const IF_PARENT_LIVES = '[ "$PPID" = "$0" ] && exec "$@"';

/**
 * A second process waits on a pipe that only this process holds open: a line ends it, a closed pipe ends the
 * program. It starts first and is forked twice: servers complain about children that they did not start.
 */
const WATCHED = 'exec 3<&0; ((read _ <&3 || kill -INT "$$") >/dev/null 2>&1 &); exec "$@" 3<&- </dev/null';

function startWatched(program: string, args: readonly string[], user: EngineUser | undefined): ChildProcess {
  const child = spawn('/bin/sh', ['-c', WATCHED, 'watched', program, ...args], {
    ...CHILD,
    ...user,
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  child.stdin?.on('error', () => undefined);
  child.once('exit', () => child.stdin?.end('\n'));
  return child;
}

/** Of util-linux 2.33 or newer; others (BusyBox) lack the option. */
async function findSetpriv(): Promise<string | undefined> {
  const path = onPath('setpriv', process.env);
  if (path === undefined) return undefined;
  const child = spawn(path, ['--pdeathsig=INT', '--', 'true'], { ...CHILD, stdio: 'ignore' });
  return (await exitOf(child).catch(() => 'missing')) === 0 ? path : undefined;
}
