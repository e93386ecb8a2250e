import { existsSync } from 'node:fs';

const SHELL = '/bin/sh';

/**
 * Ends the process at once, after its `exit` listeners. The end that Node makes itself waits for its threads,
 * without a limit: for those inside the system, such as a folder on a dead mount, and for a compiler that
 * waits for the collector of this thread (nodejs/node#54918: `audit verify` of a large file stood for ever
 * after its last line). So the process becomes one that only ends, where the system has that.
 */
export function leave(exitCode: number): void {
  // Node aborts where it cannot become the other program.
  const canBecome = process.execve !== undefined && process.platform !== 'win32' && existsSync(SHELL);
  if (!canBecome) process.exit(exitCode);
  process.emit('exit', exitCode);
  process.execve?.(SHELL, ['sh', '-c', `exit ${exitCode}`], {});
}
