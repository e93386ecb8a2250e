/*
 * The names of the files in a bundle that hold entries or requests. The run of a plan has those of each run
 * that it started in a folder of its own.
 */

export const JOURNAL = 'journal.jsonl';
export const LOG = 'log.jsonl';
export const WISHES = 'wishes.jsonl';
export const TRANSCRIPT = 'transcript.jsonl';

/** Where a file of a child is. */
export function childFile(run: string, name: string): string {
  return `children/${run}/${name}`;
}

const CHILD = /^children\/(?<run>[^/]+)\/journal\.jsonl$/u;

/** The child whose journal has this name; undefined for any other file. */
export function childIn(name: string): string | undefined {
  return CHILD.exec(name)?.groups?.['run'];
}

/** Whether a file has entries. */
export function hasEntries(name: string): boolean {
  return [JOURNAL, LOG, WISHES].includes(name) || name.startsWith('ledger/') || CHILD.test(name);
}
