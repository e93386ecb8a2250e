import type { ChildProcess } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { exitOf, type Launcher, postgresError } from './launcher.ts';

/** A PostgreSQL server that accepts connections. */
export interface PostgresProcess {
  readonly pid: number;
  readonly running: boolean;
  /** Fast shutdown: clients are cut off, nothing committed is lost. Resolves when the process is gone. */
  stop(): Promise<void>;
  /** Kills the server and its children. Resolves when all of them are gone. */
  kill(): Promise<void>;
}

const READY = 'database system is ready to accept connections';
/** A recovering server reports every log file; one that is silent this long never comes up. */
const SILENCE_MS = 30_000;
/** After SIGQUIT the server itself waits 5 seconds before it kills a child that does not respond. */
const STOP_SIGNALS = [
  ['SIGINT', 3_000],
  ['SIGQUIT', 8_000],
  ['SIGKILL', 1_000],
] as const;
const KEPT_LINES = 40;

/**
 * Starts the server of a data folder. Resolves when it takes writes, after recovery and promotion. Rejects
 * with `lab.postgres` and its last log lines if it does not come up, and with the signal's reason after an
 * abort.
 */
export async function startPostgres(
  launcher: Launcher,
  program: string,
  options: { readonly data: string; readonly configFile: string; readonly signal: AbortSignal },
): Promise<PostgresProcess> {
  const child = launcher.start(program, ['-D', options.data, '-c', `config_file=${options.configFile}`]);
  let running = true;
  const exited = exitOf(child);
  const gone = exited.then(
    () => undefined,
    () => undefined,
  );
  void gone.then(() => {
    running = false;
  });
  // Every process of the server holds its output open.
  const closed = new Promise<void>((resolve) => {
    child.once('close', () => resolve());
    child.once('error', () => resolve());
  });
  const stop = () => stopProcess(child, gone, () => running);
  try {
    await untilReady(child, exited, options.signal);
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    pid: child.pid ?? 0,
    get running() {
      return running;
    },
    stop,
    kill: async () => {
      const children = await childrenOf(child.pid);
      child.kill('SIGKILL');
      for (const pid of children) endProcess(pid);
      await closed;
    },
  };
}

async function untilReady(
  child: ChildProcess,
  exited: Promise<number | string>,
  signal: AbortSignal,
): Promise<void> {
  const ready = Promise.withResolvers<void>();
  const log: string[] = [];
  const timer = setTimeout(() => ready.reject(postgresError('it never became ready', log)), SILENCE_MS);
  const abort = () => ready.reject(signal.reason);
  signal.addEventListener('abort', abort, { once: true });
  if (signal.aborted) abort();
  if (child.stderr !== null) {
    createInterface({ input: child.stderr })
      .on('line', (line) => {
        log.push(line);
        timer.refresh();
        if (log.length > KEPT_LINES) log.shift();
        if (line.includes(READY)) ready.resolve();
      })
      // The log ends after the process; waiting for it keeps the last lines in the message.
      .once('close', () => {
        exited.then((code) => ready.reject(postgresError(`it ended with ${code}`, log)), ready.reject);
      });
  }
  child.stdout?.resume();
  exited.catch(ready.reject);
  try {
    await ready.promise;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', abort);
  }
}

/** SIGINT: a fast shutdown; SIGQUIT: one without a checkpoint; SIGKILL: for one that hears neither. */
async function stopProcess(
  child: ChildProcess,
  gone: Promise<void>,
  isRunning: () => boolean,
): Promise<void> {
  for (const [signal, patienceMs] of STOP_SIGNALS) {
    if (!isRunning()) return;
    child.kill(signal);
    const patience = Promise.withResolvers<void>();
    const timer = setTimeout(patience.resolve, patienceMs);
    await Promise.race([gone, patience.promise]);
    clearTimeout(timer);
  }
  await gone;
}

/**
 * The children of a process, where the system lists them (Linux). Elsewhere empty, which does no harm: an
 * orphan of the server ends as soon as it waits for anything. Only a long computation delays `closed`.
 */
async function childrenOf(pid: number | undefined): Promise<number[]> {
  const list = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '');
  return list
    .split(' ')
    .map(Number)
    .filter((child) => child > 0);
}

function endProcess(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended.
  }
}
