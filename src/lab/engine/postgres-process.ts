import type { ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import { exitOf, type Launcher, postgresError } from './launcher.ts';

/** A PostgreSQL server that accepts connections. */
export interface PostgresProcess {
  readonly pid: number;
  readonly running: boolean;
  /** Fast shutdown: clients are cut off, nothing committed is lost. Resolves when the process is gone. */
  stop(): Promise<void>;
}

const READY = 'database system is ready to accept connections';
/** Recovery of a lab's few megabytes takes milliseconds; a server silent for this long never comes. */
const READY_WITHIN_MS = 30_000;
/** After SIGQUIT the server itself needs 5 seconds until it kills a child that does not listen. */
const STOP_SIGNALS = [
  ['SIGINT', 3_000],
  ['SIGQUIT', 8_000],
  ['SIGKILL', 1_000],
] as const;
const KEPT_LINES = 40;

/** Starts the server of a data folder; rejects with `lab.postgres` and its last log lines when it does not come up. */
export async function startPostgres(
  launcher: Launcher,
  program: string,
  options: { readonly data: string; readonly configFile: string },
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
  const stop = () => stopProcess(child, gone, () => running);
  try {
    await untilReady(child, exited);
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
  };
}

async function untilReady(child: ChildProcess, exited: Promise<number | string>): Promise<void> {
  const ready = Promise.withResolvers<void>();
  const log: string[] = [];
  if (child.stderr !== null) {
    createInterface({ input: child.stderr })
      .on('line', (line) => {
        log.push(line);
        if (log.length > KEPT_LINES) log.shift();
        if (line.includes(READY)) ready.resolve();
      })
      // The log ends after the process does; waiting for it keeps the last lines in the message.
      .once('close', () => {
        exited.then((code) => ready.reject(postgresError(`it ended with ${code}`, log)), ready.reject);
      });
  }
  child.stdout?.resume();
  exited.catch(ready.reject);
  const timer = setTimeout(() => ready.reject(postgresError('it never became ready', log)), READY_WITHIN_MS);
  try {
    await ready.promise;
  } finally {
    clearTimeout(timer);
  }
}

/** SIGINT asks for a fast shutdown, SIGQUIT for one without a checkpoint; SIGKILL is for a server that hears neither. */
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
