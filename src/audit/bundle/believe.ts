import type { KeyObject } from 'node:crypto';
import type { StoredEntry } from '../../store/journal.ts';
import type { Anchor } from '../../store/log/anchor.ts';
import { type Checkpoint, readCheckpoint } from '../../store/log/checkpoint.ts';
import { KEY_ENDORSED, KeyEndorsed, LOG_BEGUN, LogBegun } from '../../store/log/log-entries.ts';
import { claimOf } from '../../store/log/places/place.ts';
import { parsePublicKeys } from '../../store/log/public-keys.ts';
import type { ShownTree } from '../../store/log/tree-proof.ts';
import { show } from '../../text.ts';
import type { Findings } from '../verdict.ts';

/** What an auditor has got from elsewhere. */
export interface Trust {
  /** Keys in PEM, one below the other. Without it those in the bundle are taken, and nothing is pinned by them. */
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
    if (claim === undefined)
      findings.problem('checkpoint.unreadable', `${show(file, 160)}: not a checkpoint any more`);
    else if (claim.origin !== origin)
      findings.problem('checkpoint.other-log', `${show(file, 160)} belongs to another log`);
    else if (tree?.root(claim.size)?.toString('hex') !== claim.root)
      findings.problem(
        'checkpoint.other-root',
        `${show(file, 160)}: the first ${claim.size} entries are not those that were signed, or the proof is none`,
      );
  }
}

/**
 * The keys whose signatures count: those to begin with, and each that was endorsed in the log below a checkpoint which one of them has signed.
 * Says of each checkpoint when none of them has.
 */
export function believedKeys(
  begin: readonly KeyObject[],
  notes: Notes,
  aboutLog: readonly StoredEntry[],
  findings: Findings,
): readonly KeyObject[] {
  const keys = [...begin];
  const endorsed = aboutLog.flatMap(({ index, type, body }) => {
    const { data } = KeyEndorsed.safeParse(type === KEY_ENDORSED ? JSON.parse(body) : undefined);
    return parsePublicKeys(data?.publicKey ?? '').map((key) => ({ index, key }));
  });
  for (let known = -1; known !== keys.length; ) {
    known = keys.length;
    const signed = notes.flatMap(([, note]) => {
      const read = readCheckpoint(note, keys);
      return read.result === 'signed' ? [read.checkpoint.size] : [];
    });
    const reach = Math.max(0, ...signed);
    for (const { index, key } of endorsed)
      if (index < reach && !keys.some((other) => other.equals(key))) keys.push(key);
  }
  for (const [at, [file, note]] of notes.entries()) {
    const { result } = readCheckpoint(note, keys);
    if (result === 'bad-signature')
      findings.problem(
        'checkpoint.bad-signature',
        `${show(file, 160)} was changed: its signature does not fit`,
      );
    else if (result === 'unknown-key' && at === 0)
      findings.problem(
        'checkpoint.unknown-key',
        `${show(file, 160)} is signed by a key that this audit does not know`,
      );
    else if (result === 'unknown-key')
      findings.limit(
        'checkpoint.unknown-key',
        `${show(file, 160)} pins nothing: its key is neither given nor endorsed`,
      );
  }
  return keys;
}

/** The keys that are there without one from elsewhere: those beside the bundle, and that of the log's first entry. */
export function keysBeside(pem: string, aboutLog: readonly StoredEntry[]): readonly KeyObject[] {
  const [first] = aboutLog;
  const begun = first?.type === LOG_BEGUN ? LogBegun.safeParse(JSON.parse(first.body)).data : undefined;
  return [...parsePublicKeys(pem), ...parsePublicKeys(begun?.publicKey ?? '')];
}

/** The first entries of the log that the anchors pin, as a number; says of each anchor what became of it. */
export function checkAnchors(
  anchors: readonly Anchor[],
  { origin, size: whole }: Checkpoint,
  tree: ShownTree | undefined,
  findings: Findings,
): number {
  const holding = anchors.map((anchor) => {
    const { size, root } = anchor;
    const shown = size > whole ? undefined : tree?.root(size)?.toString('hex');
    if (anchor.origin !== origin) {
      findings.problem('anchor.other-log', `the anchor is of the log ${anchor.origin}, this is ${origin}`);
      return 0;
    }
    if (size > whole) {
      findings.limit(
        'anchor.later',
        `the anchor saw ${size} entries, and here the log ends at ${whole}: it pins nothing here`,
      );
      return 0;
    }
    if (shown === undefined) {
      findings.limit(
        'anchor.not-shown',
        `no proof here reaches the ${size} entries of the anchor: export with --anchor`,
      );
      return 0;
    }
    if (!shown.startsWith(root)) {
      findings.problem(
        'anchor.other-root',
        `the first ${size} entries are not those of the anchor: the record was rewritten`,
      );
      return 0;
    }
    findings.note(
      'anchor.holds',
      `the anchor holds: the first ${size} entries of the log are those that it saw`,
    );
    return size;
  });
  return Math.max(0, ...holding);
}
