/*
 * The files of a bundle that hold entries or requests. In the bundle of one run they are beside the manifest,
 * with a folder for each run that a plan started. In that of many runs each run has a folder.
 */

/** The files of a bundle that is read: one in a folder is read again whenever it is asked for. */
export type ReadableFiles = Pick<ReadonlyMap<string, Buffer>, 'get' | 'has' | 'keys'>;

export const JOURNAL = 'journal.jsonl';
export const LOG = 'log.jsonl';
export const WISHES = 'wishes.jsonl';
export const TRANSCRIPT = 'transcript.jsonl';

export function childFile(run: string, name: string): string {
  return `children/${run}/${name}`;
}

export function runFile(run: string, name: string): string {
  return `runs/${run}/${name}`;
}

/** Where a ledger is. A name in a tar holds 99 characters; the lines of a file say which stream it is. */
export function ledgerFile(name: string): string {
  return name.length <= 80 ? `ledger/${name}.jsonl` : `ledger/${name.slice(0, 60)}/${name.slice(60)}.jsonl`;
}

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

export function hasEntries(name: string): boolean {
  return [JOURNAL, LOG, WISHES].includes(name) || name.startsWith('ledger/') || IN_FOLDER.test(name);
}

export function transcriptBeside(journal: string): string {
  return `${journal.slice(0, -JOURNAL.length)}${TRANSCRIPT}`;
}
