import type { KeyObject } from 'node:crypto';
import type { Row } from '../../store/chain.ts';
import { readCheckpoint } from '../../store/log/checkpoint.ts';
import { MAX_NOTE_BYTES } from '../../store/log/signed-note.ts';
import { show } from '../../text.ts';
import type { Audit } from '../audit-report.ts';
import type { BundleFiles } from './tar.ts';

const FOLDER = 'checkpoints/';

/** Compares every signed head in a bundle with its stream: what it saw has to be there, at its number. Gives how far they reach, by stream. */
export function checkHeads(
  files: BundleFiles,
  streams: ReadonlyMap<string, readonly Row[]>,
  keys: readonly KeyObject[],
  audit: Audit,
): ReadonlyMap<string, number> {
  const reach = new Map<string, number>();
  for (const [name, bytes] of files) {
    if (!name.startsWith(FOLDER)) continue;
    // Cut, it is no note any more.
    const read = readCheckpoint(bytes.toString('utf8', 0, MAX_NOTE_BYTES + 1), keys);
    if (read.result !== 'signed') {
      audit.problem(`checkpoint.${read.result}`, `${show(name, 160)}: ${WORDS[read.result]}`);
      continue;
    }
    const { stream, seq, hash } = read.checkpoint;
    if (!name.startsWith(`${FOLDER}${stream}/`))
      audit.problem('checkpoint.misplaced', `${show(name, 160)} belongs to ${stream}`, { stream });
    const row = seq === 0 ? undefined : streams.get(stream)?.[seq - 1];
    if (seq > 0 && row === undefined)
      audit.problem('stream.cut', `${stream} ends before entry ${seq}, which was signed`, { stream });
    else if (row !== undefined && (row.seq !== seq || row.hash !== hash))
      audit.problem('stream.rewritten', `entry ${seq} is not the one that was signed`, { stream, seq });
    else reach.set(stream, Math.max(reach.get(stream) ?? 0, seq));
  }
  return reach;
}

const WORDS = {
  unreadable: 'not a checkpoint any more',
  'unknown-key': 'signed by a key that this audit does not know',
  'bad-signature': 'it was changed: its signature does not fit',
} as const;
