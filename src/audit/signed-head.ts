import type { Entry } from '../store/journal.ts';
import { readCheckpoint } from '../store/log/checkpoint.ts';
import { checkpointRoot, readNotes, readPublicKeys } from './checkpoint-files.ts';

/**
 * The signed head that reaches furthest into a stream, as the note itself: one that a key beside it has signed, and that saw the entry which stands there now.
 * Undefined where there is none.
 */
export function signedHeadOf(home: string, entries: readonly Entry[]): string | undefined {
  const stream = entries[0]?.stream;
  if (stream === undefined) return undefined;
  const root = checkpointRoot(home);
  const keys = readPublicKeys(root);
  let furthest: { readonly seq: number; readonly note: string } | undefined;
  for (const { note = '' } of readNotes(root, stream)) {
    const read = readCheckpoint(note, keys);
    if (read.result !== 'signed' || read.checkpoint.stream !== stream) continue;
    const { seq, hash } = read.checkpoint;
    if (entries[seq - 1]?.hash === hash && seq > (furthest?.seq ?? 0)) furthest = { seq, note };
  }
  return furthest?.note;
}

/** The installations whose keys, of those that lie beside them, have signed heads of these streams. */
export function installationsOf(home: string, streams: readonly string[]): ReadonlySet<string> {
  const root = checkpointRoot(home);
  const keys = readPublicKeys(root);
  const read = streams.flatMap((stream) =>
    readNotes(root, stream).map(({ note = '' }) => readCheckpoint(note, keys)),
  );
  return new Set(read.flatMap((one) => (one.result === 'signed' ? [one.checkpoint.installation] : [])));
}
