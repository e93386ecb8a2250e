import { readFileSync, writeFileSync } from 'node:fs';
import { printError } from './print-error.ts';

/**
 * Keeps other programs from reading the memory of this process, which holds keys. Called once, before any
 * secret is read.
 *
 * - SIGUSR1 would open Node's debugger on loopback to any local program: it is caught and ignored.
 * - A core file contains every key, and Node has neither setrlimit(2) nor prctl(2). Where core files are
 *   allowed, util-linux's prlimit(1) forbids them for this process, and on Linux core(5) is told to leave out
 *   the memory of this process and of the programs that it starts. Processor registers remain. On other
 *   systems, the operator sets `ulimit -c 0`.
 * - SIGQUIT (Ctrl-\) would write a core file: it ends the process as SIGTERM does.
 * - Reports that NODE_OPTIONS can request leave out the environment, which may hold a token.
 * - An uncaught error is cleaned and printed like any other; Node itself would print its text unchanged.
 *
 * Root, and users who may ptrace(2) this process, can still read its memory.
 */
export function keepPrivate(): void {
  process.on('SIGUSR1', () => undefined);
  process.on('SIGQUIT', () => process.kill(process.pid, 'SIGTERM'));
  process.on('uncaughtException', (thrown) => process.exit(printError(thrown, process.stderr)));
  process.report.excludeEnv = true;
  if (process.platform === 'linux') forbidCores();
}

function forbidCores(): void {
  try {
    writeFileSync('/proc/self/coredump_filter', '0');
    if (/^Max core file size\s+0\s/mu.test(readFileSync('/proc/self/limits', 'utf8'))) return;
    const env = { PATH: process.env['PATH'] };
    // Deferred, because loading it takes as long as everything else here.
    const { spawn } = process.getBuiltinModule('node:child_process');
    const limiting = spawn('prlimit', ['--pid', String(process.pid), '--core=0'], { env, stdio: 'ignore' });
    limiting.on('error', () => undefined).unref();
  } catch {
    // Without core files in the kernel, or with a hidden /proc, there is nothing to change.
  }
}
