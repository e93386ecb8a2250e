import { EXIT, LifeboatError } from '../base/errors.ts';
import { show } from '../base/text.ts';
import { canonicalBody, hashOf, leafText } from './canonical.ts';
import { type Entry, type Json, LOG_STREAM, type StoredEntry } from './journal.ts';
import { STORE_ARRIVED } from './log/log-entries.ts';
import { grow, leafHash, rootOfFrontier } from './log/merkle.ts';
import { hearLog } from './log/named-keys.ts';
import { type LogTip, nextLeaves, type StoredHead, type StoredLeaf, verifiedTip } from './log/next-leaves.ts';
import type { Signer } from './log/signer.ts';
import { entryOf } from './new-entry.ts';

/*
 * Moves a store's entries into another one unchanged: the leaves are the same, so every earlier checkpoint
 * and anchor still fits. The target's log continues with `store.arrived`; the source ends with `store.moved`,
 * after which no engine appends (next-leaves.ts).
 */

export interface MovedFrom {
  stored(from: number): AsyncIterable<StoredEntry>;
  /** Larger than `above`, in order. */
  heads(above: number): AsyncIterable<StoredHead>;
}

/** One transaction: nothing remains if `layDown` rejects. */
export interface Landing {
  /** Nothing, or entries once moved away from the target. */
  readonly tip: LogTip;
  /** In order; also folds them into the projections. */
  leaves(leaves: readonly StoredLeaf[], entries: readonly Entry[]): Promise<void> | void;
  heads(heads: readonly StoredHead[]): Promise<void> | void;
}

export interface Arrival {
  readonly at: string;
  readonly by: string;
  readonly signer: Signer;
  /** Where the store came from. */
  readonly body: Json;
}

const PAGE = 1_000;

/**
 * Writes a moved store's entries into another one, and signs the target's first own head. Rejects with
 * `store.not-empty` if the target holds anything but the beginning of the same log, once moved away from it,
 * and with `journal.damaged` if the source's entries do not match its hashes and heads.
 */
export async function layDown(from: MovedFrom, into: Landing, arrival: Arrival): Promise<void> {
  assertEmpty(into.tip);
  let tip = into.tip;
  let page: StoredLeaf[] = [];
  const flush = async () => {
    const entries = page.map(({ tree: _, ...stored }) => entryOf(stored));
    tip = { ...tip, said: hearLog(tip.said, entries) };
    await into.leaves(page, entries);
    page = [];
  };
  for await (const stored of from.stored(tip.frontier.size)) {
    if (stored.index !== tip.frontier.size || hashOf(stored) !== stored.hash)
      throw damaged(`entry ${stored.index} is not what was signed`);
    const { frontier, tree } = grow(tip.frontier, leafHash(leafText(stored)));
    tip = { ...tip, frontier };
    page.push({ ...stored, tree });
    if (page.length === PAGE) await flush();
  }
  await flush();
  const heads: StoredHead[] = [];
  for await (const head of from.heads(into.tip.frontier.size)) {
    heads.push(head);
    if (heads.length === PAGE) await into.heads(heads.splice(0));
    tip = { ...tip, head };
  }
  await into.heads(heads);
  verifiedTip(tip);
  if (tip.said.movedTo === undefined) throw damaged('it does not say that it was moved');
  const body = canonicalBody(arrival.body, STORE_ARRIVED);
  const next = nextLeaves(tip, [{ stream: LOG_STREAM, type: STORE_ARRIVED, body }], {
    ...arrival,
    before: undefined,
    seqOf: () => tip.said.seq,
    vouched: tip.head?.vouched ?? 0,
  });
  await into.leaves(next.leaves, next.entries);
  await into.heads([next.head]);
}

/** Recomputed from all entries; hex. */
export async function rootOfEntries(entries: AsyncIterable<StoredEntry>, size: number): Promise<string> {
  let frontier: LogTip['frontier'] = { size: 0, peaks: [] };
  for await (const stored of entries) {
    if (frontier.size === size) break;
    if (stored.index !== frontier.size) break;
    frontier = grow(frontier, leafHash(leafText(stored))).frontier;
  }
  if (frontier.size !== size) throw damaged(`it holds ${frontier.size} entries in order, not ${size}`);
  return rootOfFrontier(frontier).toString('hex');
}

function assertEmpty({ frontier, said }: LogTip): void {
  if (frontier.size === 0 || said.movedTo !== undefined) return;
  throw new LifeboatError(
    'store.not-empty',
    `the store to copy into holds ${frontier.size} entries already`,
    {
      hints: ['nothing was copied: two logs cannot become one', 'name an empty one'],
      exitCode: EXIT.usage,
    },
  );
}

function damaged(what: string): LifeboatError {
  return new LifeboatError('journal.damaged', `the store to copy from is damaged: ${show(what)}`, {
    hints: ['nothing was copied', '`lifeboat audit verify` says what else is damaged'],
  });
}
