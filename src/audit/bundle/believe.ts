import type { KeyObject } from 'node:crypto';
import { counted } from '../../base/format.ts';
import { show } from '../../base/text.ts';
import { type Entry, LOG_STREAM } from '../../store/journal.ts';
import type { Anchor } from '../../store/log/anchor.ts';
import { type Checkpoint, readCheckpoint } from '../../store/log/checkpoint.ts';
import { LOG_BEGUN, LogBegun } from '../../store/log/log-entries.ts';
import { parsePublicKeys } from '../../store/log/named-keys.ts';
import { claimOf } from '../../store/log/places/place.ts';
import type { ShownTree } from '../../store/log/tree-proof.ts';
import type { Findings } from '../verdict.ts';

/** What an auditor has got from elsewhere. */
export interface Trust {
  /**
   * Keys in PEM, one below the other. Without it those in the bundle are taken, and nothing is pinned by
   * them.
   */
  readonly publicKey?: string | undefined;
  readonly anchors?: readonly Anchor[] | undefined;
}

/** The signed heads that are shown, the newest one first, by file. */
export type Notes = readonly (readonly [file: string, note: string])[];

/** Whether each checkpoint is one of this tree: its origin, and the root at its size. */
export function checkRoots(notes: Notes, tree: ShownTree | undefined, findings: Findings): void {
  const origin = claimOf(notes[0]?.[1])?.origin;
  for (const [file, note] of notes) {
    const claim = claimOf(note);
    const problem = (code: string, what: string) => findings.problem(code, `${show(file, 160)}: ${what}`);
    if (claim === undefined) problem('checkpoint.unreadable', 'it is not a readable checkpoint');
    else if (claim.origin !== origin) problem('checkpoint.other-log', 'it belongs to another log');
    else if (tree?.root(claim.size)?.toString('hex') !== claim.root)
      problem('checkpoint.other-root', `the first ${claim.size} entries are not those that were signed`);
  }
}

/** Says of each checkpoint when none of the keys that count has signed it. */
export function checkSignatures(notes: Notes, keys: readonly KeyObject[], findings: Findings): void {
  for (const [at, [file, note]] of notes.entries()) {
    const { result } = readCheckpoint(note, keys);
    const what = show(file, 160);
    if (result === 'bad-signature')
      findings.problem(`checkpoint.${result}`, `${what} was changed: its signature does not fit`);
    else if (result === 'unknown-key' && at === 0)
      findings.problem(`checkpoint.${result}`, `${what} is signed by a key that is not known`);
    else if (result === 'unknown-key')
      findings.limit(`checkpoint.${result}`, `${what} pins nothing: its key is neither given nor endorsed`);
  }
}

/**
 * What there is without a key from elsewhere: the keys beside the bundle, and that of the log's first entry.
 */
export function keysBeside(pem: string, begun: Begun): readonly KeyObject[] {
  return [...parsePublicKeys(pem), ...parsePublicKeys(begun?.publicKey ?? '')];
}

/** The first entry of a log, which names it; undefined where it is not that. */
export function begunIn([first]: readonly Entry[]) {
  const isFirst = first?.index === 0 && first.stream === LOG_STREAM && first.type === LOG_BEGUN;
  return LogBegun.safeParse(isFirst ? first.body : undefined).data;
}
type Begun = ReturnType<typeof begunIn>;

/** How many first entries of the log the anchors pin; says of each anchor what became of it. */
export function checkAnchors(
  anchors: readonly Anchor[],
  { origin, size: whole }: Checkpoint,
  tree: ShownTree | undefined,
  findings: Findings,
): number {
  let pinned = 0;
  for (const { origin: log, size, root } of anchors) {
    const shown = tree?.root(size)?.toString('hex');
    const entries = counted(size, 'entry', 'entries');
    if (log !== origin) findings.problem('anchor.other', `the anchor is of ${log}, and this is ${origin}`);
    else if (size > whole)
      findings.limit('anchor.later', `the anchor covers ${entries}, and here are ${whole}: it pins nothing`);
    else if (shown === undefined)
      findings.limit('anchor.not-shown', `no proof shows the ${entries} of the anchor: export with --anchor`);
    else if (!shown.startsWith(root))
      findings.problem('anchor.rewritten', `the first ${entries} are not those of the anchor`);
    else {
      findings.note('anchor.holds', `the anchor matches: the first ${entries} are those that it covers`);
      pinned = Math.max(pinned, size);
    }
  }
  return pinned;
}
