import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Where the requests of a run are written down. */
export function transcriptPath(home: string, runId: string): string {
  return join(home, 'transcripts', `${runId}.jsonl`);
}

/** The transcript as it is now; undefined when there is none. */
export function transcriptOf(home: string, runId: string): Buffer | undefined {
  try {
    return readFileSync(transcriptPath(home, runId));
  } catch {
    return undefined;
  }
}
