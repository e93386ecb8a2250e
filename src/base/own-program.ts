import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { getRawAsset, isSea } from 'node:sea';

/** Whether this program is one file that brings its own Node. */
export function isSingleExecutable(): boolean {
  return isSea();
}

/** The words that start this very program again; arguments follow them. */
export function ownProgram(): readonly string[] {
  return isSea() ? [process.execPath] : [process.execPath, process.argv[1] ?? 'lifeboat'];
}

/**
 * A file that ships with this program, by its path in the package; a single executable holds it itself. Do
 * not write to the bytes: of a single executable they are its own memory. Throws when there is none.
 */
export function ownFile(path: string): Buffer {
  return isSea() ? Buffer.from(getRawAsset(path)) : readFileSync(join(packageRoot(), path));
}

/**
 * The folder that a file of this program is installed in: the nearest one above it with a package.json, or
 * the root folder. Bundled or not, it is the same.
 */
export function packageRoot(file: string = import.meta.filename): string {
  let folder = dirname(file);
  while (!existsSync(join(folder, 'package.json')) && dirname(folder) !== folder) folder = dirname(folder);
  return folder;
}

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
