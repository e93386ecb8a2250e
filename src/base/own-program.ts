import { isSea } from 'node:sea';

/** Whether this program is one file that brings its own Node. */
export function isSingleExecutable(): boolean {
  return isSea();
}

/** The words that start this very program again; arguments follow them. */
export function ownProgram(): readonly string[] {
  return isSea() ? [process.execPath] : [process.execPath, process.argv[1] ?? 'lifeboat'];
}
