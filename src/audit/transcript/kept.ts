import { hash } from 'node:crypto';
import { join } from 'node:path';
import { readPlainFile } from '../../base/bounded-file.ts';
import type { Entry } from '../../store/journal.ts';
import { readRunEntry } from '../../store/run-entries.ts';

/**
 * The maximum size of a transcript: readers stop there, a run that polls for days must not fill the disk, and
 * a bundle with it can be made and verified in little memory.
 */
export const MAX_BYTES = 32 * 1024 * 1024;

/** Where the requests of a run are recorded. */
export function transcriptPath(home: string, runId: string): string {
  return join(home, 'transcripts', `${runId}.jsonl`);
}

/** The present transcript; undefined if there is none, or the file is not ours. */
export function transcriptOf(home: string, runId: string): Buffer | undefined {
  try {
    return readPlainFile(transcriptPath(home, runId), MAX_BYTES);
  } catch {
    return undefined;
  }
}

/**
 * The note that records a transcript as it is, for a run whose process was killed and that no process drives.
 * Empty if there is none on this machine.
 */
export function transcriptLeft(home: string, runId: string) {
  const bytes = transcriptOf(home, runId);
  if (bytes === undefined || bytes.length === 0) return [];
  const lines = bytes.reduce((count, byte) => (byte === 0x0a ? count + 1 : count), 0);
  return [
    { type: 'transcript.kept', body: { lines, bytes: bytes.length, sha256: hash('sha256', bytes, 'hex') } },
  ];
}

/**
 * The note that the earlier transcript is on another machine that drove the run, with the host if known.
 * Empty if it is here, or if nothing was sent.
 */
export function transcriptElsewhere(
  home: string,
  runId: string,
  entries: readonly Entry[],
  host: string,
): readonly { readonly type: 'transcript.elsewhere'; readonly body: { readonly host?: string } }[] {
  const since = entries.slice(entries.findLastIndex(({ type }) => type === 'transcript.elsewhere') + 1);
  const kept = since.map(keptIn).findLast((body) => body !== undefined);
  const before = entries.map(hostIn).findLast((name) => name !== undefined);
  const here = transcriptOf(home, runId);
  const isHere =
    kept === undefined
      ? here !== undefined || before === host || !since.some(({ type }) => type === 'activity.begun')
      : kept.bytes === 0 ||
        (here !== undefined && hash('sha256', here.subarray(0, kept.bytes), 'hex') === kept.sha256);
  if (isHere) return [];
  return [{ type: 'transcript.elsewhere', body: before === undefined ? {} : { host: before } }];
}

function keptIn(entry: Entry) {
  const read = entry.type === 'transcript.kept' ? readRunEntry(entry) : undefined;
  return read?.type === 'transcript.kept' ? read.body : undefined;
}

function hostIn(entry: Entry): string | undefined {
  const read = entry.type.startsWith('run.') ? readRunEntry(entry) : undefined;
  return read?.type === 'run.started' || read?.type === 'run.resumed' ? read.body.who?.host : undefined;
}
