/*
 * The names of the files in a bundle that hold entries or requests. The bundle of one run has them beside its
 * manifest, and those of each run that a plan started in a folder of its own; that of many runs of a log has
 * a folder for each run.
 */

/** The files of a bundle that is read: one in a folder is read again whenever it is asked for. */
export type ReadableFiles = Pick<ReadonlyMap<string, Buffer>, 'get' | 'has' | 'keys'>;

export const JOURNAL = 'journal.jsonl';
export const LOG = 'log.jsonl';
export const WISHES = 'wishes.jsonl';
export const TRANSCRIPT = 'transcript.jsonl';

/** Where a file of a child is. */
export function childFile(run: string, name: string): string {
  return `children/${run}/${name}`;
}

/** Where a file of a run is in a bundle of many runs. */
export function runFile(run: string, name: string): string {
  return `runs/${run}/${name}`;
}

/** Where a ledger is. A name in a tar holds 99 characters; the lines of a file say which stream it is. */
export function ledgerFile(name: string): string {
  return name.length <= 80 ? `ledger/${name}.jsonl` : `ledger/${name.slice(0, 60)}/${name.slice(60)}.jsonl`;
}

/** A file of entries in the folder of a run. */
interface InFolder {
  readonly folder: 'children' | 'runs';
  readonly run: string;
  readonly name: typeof JOURNAL | typeof WISHES;
}

const IN_FOLDER = /^(?<folder>children|runs)\/(?<run>[^/]+)\/(?<name>(?:journal|wishes)\.jsonl)$/u;

/** Which file of which run this is, among those with entries; undefined for any other file. */
export function inFolder(file: string): InFolder | undefined {
  return IN_FOLDER.exec(file)?.groups as InFolder | undefined;
}

/** Whether a file has entries. */
export function hasEntries(name: string): boolean {
  return [JOURNAL, LOG, WISHES].includes(name) || name.startsWith('ledger/') || IN_FOLDER.test(name);
}

/** The requests of the run whose journal has this name. */
export function transcriptBeside(journal: string): string {
  return `${journal.slice(0, -JOURNAL.length)}${TRANSCRIPT}`;
}
