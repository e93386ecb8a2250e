import { show } from '../base/text.ts';

/** Longest row of a script that is printed whole. */
const LIMIT = 4000;

/** The fallback script as lines for a terminal: as it is on disk, and nothing in it acts on the terminal. */
export function fallbackLines(fallback: string): string[] {
  return fallback.split('\n').map((row) => show(row, LIMIT));
}
