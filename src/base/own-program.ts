import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { getRawAsset, isSea } from 'node:sea';

export function isSingleExecutable(): boolean {
  return isSea();
}

/** The command that starts this program again; arguments follow. */
export function ownProgram(): readonly string[] {
  return isSea() ? [process.execPath] : [process.execPath, process.argv[1] ?? 'lifeboat'];
}

/**
 * A file that ships with this program, by its path in the package. Do not modify the bytes: in a single
 * executable they are its own memory. Throws if it does not exist.
 */
export function ownFile(path: string): Buffer {
  return isSea() ? Buffer.from(getRawAsset(path)) : readFileSync(join(packageRoot(), path));
}

/** The nearest folder above `file` that has a package.json, else the root; also right for bundled code. */
export function packageRoot(file: string = import.meta.filename): string {
  let folder = dirname(file);
  while (!existsSync(join(folder, 'package.json')) && dirname(folder) !== folder) folder = dirname(folder);
  return folder;
}

const SHELL = '/bin/sh';

/**
 * Ends the process at once, after its `exit` listeners. Node's own exit waits without a limit for threads in
 * system calls, as on a dead mount, and for a compiler that waits for this thread's garbage collector
 * (nodejs/node#54918: `audit verify` of a large file hung after its last line). So a process that only exits
 * replaces this one, if the system supports it.
 */
export function leave(exitCode: number): void {
  // Node aborts if it cannot execute the other program.
  const canBecome = process.execve !== undefined && process.platform !== 'win32' && existsSync(SHELL);
  if (!canBecome) process.exit(exitCode);
  process.emit('exit', exitCode);
  process.execve?.(SHELL, ['sh', '-c', `exit ${exitCode}`], {});
}
