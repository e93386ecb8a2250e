import { hash } from 'node:crypto';
import { join } from 'node:path';
import { readPlainFile } from '../../base/bounded-file.ts';

/**
 * The most that a transcript holds. Nobody reads further, a run that polls for days must not fill the disk,
 * and a bundle with it is still made and verified in little memory.
 */
export const MOST_BYTES = 32 * 1024 * 1024;

/** Where the requests of a run are written down. */
export function transcriptPath(home: string, runId: string): string {
  return join(home, 'transcripts', `${runId}.jsonl`);
}

/**
 * The transcript as it is now; undefined when there is none, or when what lies there is no transcript of
 * ours.
 */
export function transcriptOf(home: string, runId: string): Buffer | undefined {
  try {
    return readPlainFile(transcriptPath(home, runId), MOST_BYTES);
  } catch {
    return undefined;
  }
}

/**
 * The note that keeps a transcript as it lies there, for a run whose process was killed and that nobody
 * drives any more. Nothing where there is none on this machine.
 */
export function transcriptLeft(home: string, runId: string) {
  const bytes = transcriptOf(home, runId);
  if (bytes === undefined || bytes.length === 0) return [];
  const lines = bytes.reduce((count, byte) => (byte === 0x0a ? count + 1 : count), 0);
  return [
    { type: 'transcript.kept', body: { lines, bytes: bytes.length, sha256: hash('sha256', bytes, 'hex') } },
  ];
}
