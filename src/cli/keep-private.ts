import { readFileSync, writeFileSync } from 'node:fs';
import { printError } from './print-error.ts';

/**
 * Closes the ways by which the memory of this process, and the keys in it, could be looked into from outside
 * without anybody meaning to open them. Called once, before anything secret is read.
 *
 * - SIGUSR1 opens Node's debugger on loopback, to whoever asks there: it is taken and ignored.
 * - A core file holds every key. Node has neither setrlimit(2) nor prctl(2). Where core files are allowed,
 *   util-linux's prlimit(1) forbids them for this process, and Linux lets a process say what goes into one
 *   (core(5)): nothing of its memory, nor of the programs that it starts. What the processor holds in that
 *   instant stays in it. On other systems `ulimit -c 0` is the operator's.
 * - SIGQUIT (Ctrl-\) would write a core file: it ends the process as SIGTERM does, with whatever is done
 *   then.
 * - The reports that NODE_OPTIONS can ask Node for leave the environment out, where a token may be.
 * - An error that nothing catches is printed like any other, cleaned: Node itself would print its text as it
 *   is.
 *
 * Whoever may read this process's memory as root, or by ptrace(2), still can.
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
    // Loading it takes as long as all the rest of this.
    const { spawn } = process.getBuiltinModule('node:child_process');
    const limiting = spawn('prlimit', ['--pid', String(process.pid), '--core=0'], { env, stdio: 'ignore' });
    limiting.on('error', () => undefined).unref();
  } catch {
    // A kernel without core files, or a /proc that is hidden: then it is as it was.
  }
}
