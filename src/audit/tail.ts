import { LifeboatError } from '../errors.ts';
import type { Head } from '../store/journal.ts';
import { readCheckpoint } from '../store/log/checkpoint.ts';
import { checkpointRoot, readNotes, readPublicKeys } from './checkpoint-files.ts';

/**
 * Throws `journal.cut` when a signed checkpoint below `home` saw more entries of the stream than there are now: then what
 * the run last did is not in the journal, and going on could repeat it. Cheap: reads the stream's few checkpoints only.
 * Checkpoints that cannot be read or verified stop nobody here; `auditVerify` reports them. Gives the entry that the furthest of the others saw.
 */
export function refuseCutTail(home: string, head: Head): number | undefined {
  const root = checkpointRoot(home);
  const keys = readPublicKeys(root);
  let furthest: number | undefined;
  for (const { note } of readNotes(root, head.stream)) {
    const read = readCheckpoint(note ?? '', keys);
    if (read.result !== 'signed' || read.checkpoint.stream !== head.stream) continue;
    const { seq, hash } = read.checkpoint;
    if (seq < head.seq || (seq === head.seq && hash === head.hash)) {
      furthest = Math.max(furthest ?? 0, seq);
      continue;
    }
    throw new LifeboatError(
      'journal.cut',
      `${head.stream} ends at entry ${head.seq}, but entry ${seq} was signed and is gone or changed`,
      {
        hints: [
          'do not go on with this run: its last steps are not in the journal',
          'look at the service, put lifeboat.db back from a backup if there is one, then `lifeboat audit verify`',
        ],
        evidence: { entries: head.seq, signed: seq },
      },
    );
  }
  return furthest;
}
