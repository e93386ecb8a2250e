import { LifeboatError } from '../../base/errors.ts';
import { canonicalBody } from '../../store/canonical.ts';
import type { Entry, JournalReader, StreamName } from '../../store/journal.ts';
import { hashOf, leafText } from '../../store/leaf.ts';
import { type Checkpoint, checkpointText, parseCheckpoint } from '../../store/log/checkpoint.ts';
import { textOf } from '../../store/log/signed-note.ts';
import type { Signer } from '../../store/log/signer.ts';
import { treeProof } from '../../store/log/tree-proof.ts';

/** Some streams of a log, with what proves that they are in it. */
export interface ShownLog {
  readonly checkpoint: Checkpoint;
  /** The newest head of the log, signed by whoever appended last and by the signer of this. */
  readonly note: string;
  /** The leaf texts of each file's stream, in order. */
  readonly lines: ReadonlyMap<string, readonly string[]>;
  /** That all of them are leaves, and that the tree goes on from each of the sizes (tree-proof.ts). */
  readonly proof: Proof;
}

/** As it stands in `proof.json` and in the last line of exported lines. */
export interface Proof {
  /** The leaf number of each line, by file. */
  readonly leaves: Readonly<Record<string, readonly number[]>>;
  /** Whose roots follow as well. */
  readonly sizes: readonly number[];
  readonly nodes: readonly string[];
}

/**
 * Takes streams out of a log up to its newest signed head, and shows its smaller sizes as well, those of
 * other checkpoints and of anchors; sizes that it does not have are passed over. Entries that come meanwhile
 * are left out. Rejects with `journal.damaged` for an entry that does not give its hash, and with
 * `run.unknown` for an empty log.
 */
export async function showLog(
  journal: JournalReader,
  streams: ReadonlyMap<string, StreamName>,
  signer: Pick<Signer, 'sign'>,
  more: readonly number[],
): Promise<ShownLog> {
  const { note } = await journal.log.head();
  const head = parseCheckpoint(textOf(note ?? '') ?? '');
  if (note === undefined || head === undefined)
    throw new LifeboatError('run.unknown', 'nothing is on record here, or its signed head cannot be read');
  const lines = new Map<string, readonly string[]>();
  const leaves: Record<string, readonly number[]> = {};
  for (const [file, stream] of streams) {
    const entries = (await journal.read(stream)).filter(({ index }) => index < head.size);
    if (entries.length === 0) continue;
    lines.set(file, entries.map(lineOf));
    leaves[file] = entries.map(({ index }) => index);
  }
  const sizes = [...new Set(more)].filter((size) => size > 0 && size < head.size).sort((a, b) => a - b);
  const nodes = await treeProof(journal.log, {
    size: head.size,
    leaves: Object.values(leaves).flat(),
    sizes,
  });
  // A line that this version cannot write is not signed by it.
  const isOurs = checkpointText(head) === textOf(note);
  const both = isOurs ? cosigned(note, signer.sign(head)) : note;
  return { checkpoint: head, note: both, lines, proof: { leaves, sizes, nodes } };
}

/** A proof in its one spelling. */
export function proofText(proof: Proof): string {
  const { leaves, sizes, nodes } = proof;
  return JSON.stringify({ leaves, sizes, nodes });
}

function lineOf(entry: Entry): string {
  const { stream, seq, hash } = entry;
  const fields = { ...entry, body: canonicalBody(entry.body, `entry ${seq} of ${stream}`) };
  if (hashOf(fields) !== hash)
    throw new LifeboatError('journal.damaged', `entry ${seq} of ${stream} does not give its hash`);
  return leafText(fields);
}

/** The same text with the signatures of both. */
function cosigned(note: string, own: string): string {
  const line = own.slice(own.lastIndexOf('\n\n') + 2);
  return note.endsWith(`\n${line}`) ? note : `${note}${line}`;
}
