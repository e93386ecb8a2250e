import { randomBytes } from 'node:crypto';
import { EXIT, LifeboatError } from '../../base/errors.ts';
import { show } from '../../base/text.ts';
import { canonicalBody, leafText } from '../canonical.ts';
import {
  type Entry,
  type Json,
  LOG_STREAM,
  type LogHead,
  type StoredEntry,
  type StreamName,
} from '../journal.ts';
import type { PreparedEntry } from '../new-entry.ts';
import { type Checkpoint, claimOf, readCheckpoint } from './checkpoint.ts';
import { CLOCK_MOVED, clockNote, KEY_ANNOUNCED, LOG_BEGUN, STORE_ARRIVED } from './log-entries.ts';
import { EMPTY_ROOT, type Frontier, grow, leafHash, rootOfFrontier } from './merkle.ts';
import { hearLog, type LogSays } from './named-keys.ts';
import type { Signer } from './signer.ts';

/** A row of the table `heads`. */
export interface StoredHead {
  readonly size: number;
  readonly note: string;
  /** The installation that signed it. */
  readonly installation: string;
  /** The largest size whose checkpoint the home place of that installation had. */
  readonly vouched: number;
}

/** What the next append builds on; a writer verifies it once and may keep it between appends. */
export interface LogTip {
  readonly frontier: Frontier;
  /** Undefined in an empty store. */
  readonly head: StoredHead | undefined;
  readonly said: LogSays;
}

export interface StoredLeaf extends StoredEntry {
  readonly tree: Buffer;
}

export interface NextLeaves {
  /** The store's own entries first (`own` of them), then one leaf for each given entry. */
  readonly leaves: readonly StoredLeaf[];
  /** The same leaves as entries, with their bodies as stored. */
  readonly entries: readonly Entry[];
  /** The store's own entries: `log.begun` or `key.announced`, and a note that the clock went back. */
  readonly own: number;
  readonly head: StoredHead;
  readonly tip: LogTip;
}

export interface AppendContext {
  /** 0 for none. Called for the streams of the entries and for `store/log`. */
  readonly seqOf: (stream: string) => number;
  /** RFC 3339 UTC. */
  readonly at: string;
  /** Of the previous entry; undefined if one clock stamps all entries, or there is none. */
  readonly before: string | undefined;
  readonly by: string;
  readonly signer: Signer;
  /** Never smaller than in this installation's previous head (`StoredHead`). */
  readonly vouched: number;
}

/**
 * The leaves of an append and the head that it signs, for any engine. The store writes all of them, with the
 * rows of its projections, in one transaction, or none. Pure except for a new log's random origin. Throws
 * `journal.moved` if the log continues in another store.
 */
export function nextLeaves(
  tip: LogTip,
  prepared: readonly PreparedEntry[],
  { seqOf, at, before, by, signer, vouched }: AppendContext,
): NextLeaves {
  if (prepared[0]?.type !== STORE_ARRIVED) assertNotMoved(tip.said);
  const first = [...clockEntries(before, at), ...ownEntries(tip.said, signer)];
  const seqs = new Map<string, number>();
  const leaves: StoredLeaf[] = [];
  let { frontier } = tip;
  for (const { stream, type, body } of [...first, ...prepared]) {
    const seq = (seqs.get(stream) ?? seqOf(stream)) + 1;
    const fields = { stream, seq, at, by, type, body };
    const hash = leafHash(leafText(fields));
    const grown = grow(frontier, hash);
    leaves.push({ index: frontier.size, ...fields, hash: hash.toString('hex'), tree: grown.tree });
    frontier = grown.frontier;
    seqs.set(stream, seq);
  }
  const entries = leaves.map(toEntry);
  const said = hearLog(tip.said, entries);
  const root = rootOfFrontier(frontier).toString('hex');
  const head: StoredHead = {
    size: frontier.size,
    note: signer.sign({ origin: said.origin ?? '', size: frontier.size, root, armed: [] }),
    installation: signer.installation,
    vouched,
  };
  return { leaves, entries, own: first.length, head, tip: { frontier, head, said } };
}

/**
 * Verifies the stored state before anything is signed on top of it: the newest head covers exactly the
 * existing entries, and a key that the log knows signed it. Throws `journal.damaged` otherwise. `signer`
 * skips verifying its own signatures.
 */
export function verifiedTip(tip: LogTip, signer?: Signer): LogTip {
  const { frontier, head, said } = tip;
  if (head === undefined && frontier.size === 0) return tip;
  if (head === undefined) throw unsigned(`${frontier.size} entries have no signed head`);
  if (head.size !== frontier.size)
    throw unsigned(`there are ${frontier.size} entries, and ${head.size} are signed`);
  const checkpoint = checkpointOfHead(head, said, signer);
  if (checkpoint === undefined) throw unsigned('no key that the log knows has signed its newest head');
  const { size, root } = checkpoint;
  if (size !== frontier.size || root !== rootOfFrontier(frontier).toString('hex'))
    throw unsigned('its newest signed head does not cover its entries');
  return tip;
}

/** Undefined unless a key that the log knows signed the head. `signer` skips verifying its own signatures. */
export function checkpointOfHead(
  { note }: Pick<StoredHead, 'note'>,
  said: LogSays,
  signer?: Signer,
): Checkpoint | undefined {
  const isOwn = signer !== undefined && said.keys.has(signer.installation);
  const checkpoint = (isOwn ? ownCheckpoint(note, signer) : undefined) ?? signedCheckpoint(note, said);
  return checkpoint?.origin === said.origin ? checkpoint : undefined;
}

function ownCheckpoint(note: string, signer: Signer): Checkpoint | undefined {
  const claim = claimOf(note);
  return claim !== undefined && signer.hasMade(note, claim.origin) ? claim : undefined;
}

function signedCheckpoint(note: string, { keys }: LogSays): Checkpoint | undefined {
  const read = readCheckpoint(note, [...keys.values()]);
  return read.result === 'signed' ? read.checkpoint : undefined;
}

function toEntry({ index, stream, seq, at, by, type, body, hash }: StoredLeaf): Entry {
  return { index, stream: stream as StreamName, seq, at, by, type, body: JSON.parse(body), hash };
}

/** Throws `journal.moved` (exit 2) if the log continues in another store. */
export function assertNotMoved({ movedTo }: Pick<LogSays, 'movedTo'>): void {
  if (movedTo === undefined) return;
  throw new LifeboatError('journal.moved', `this store was moved to ${show(movedTo, 200)}`, {
    hints: [
      'nothing was written: the entries here can be read; the log goes on there',
      'name that store in lifeboat.yaml (`store`) or LIFEBOAT_STORE; for the old home: `store: sqlite`',
    ],
    exitCode: EXIT.usage,
  });
}

/** A note if the clock was put back since the previous entry; see `clockNote`. */
export function clockEntries(before: string | undefined, at: string): readonly PreparedEntry[] {
  const moved = clockNote(before, at);
  return moved === undefined ? [] : [ownEntry(CLOCK_MOVED, moved)];
}

/** The log's name and first key, or the key of an installation new to it. */
export function ownEntries(said: LogSays, { installation, publicKey }: Signer): readonly PreparedEntry[] {
  if (said.keys.has(installation)) return [];
  if (said.seq > 0) return [ownEntry(KEY_ANNOUNCED, { installation, publicKey })];
  const origin = `lifeboat/${randomBytes(8).toString('hex')}`;
  return [ownEntry(LOG_BEGUN, { origin, publicKey, format: 1 })];
}

function ownEntry(type: string, body: Json): PreparedEntry {
  return { stream: LOG_STREAM, type, body: canonicalBody(body, type) };
}

function unsigned(what: string): LifeboatError {
  return new LifeboatError('journal.damaged', `the journal cannot be appended to: ${what}`, {
    hints: [
      'nothing was written: lifeboat does not sign on top of unsigned entries',
      '`lifeboat audit verify` says what was changed; put the journal back from a backup',
    ],
  });
}

export const EMPTY_LOG: LogHead = { size: 0, root: EMPTY_ROOT.toString('hex'), note: undefined };

/**
 * The root in a head, for a store whose entries no longer produce it: a reader still has to learn the store's
 * size. Throws `error`, the reason, if the head has no root either.
 */
export function rootSaid({ note }: { readonly note: string }, error: unknown): string {
  const root = claimOf(note)?.root;
  if (root === undefined) throw error;
  return root;
}
