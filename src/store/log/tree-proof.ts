import type { Log } from '../journal.ts';
import { consistencyRanges, inclusionRanges, nodeHash, type Range, splitOf } from './merkle.ts';

/*
 * One proof for many leaves and many sizes of a tree: that all of these leaves are in it, and that it begins
 * with the tree of each of these smaller sizes. It holds each hash once that the RFC 6962 audit paths of the
 * leaves and the consistency proofs of the sizes would hold many times, and is verified by computing the root
 * by the definition of the tree:
 *
 * Let a leaf `i` mark the places i and i + 1, and a size `m` the place m. The hash of the leaves `first` to
 * `end - 1` is
 *     - where a mark lies strictly between `first` and `end`: the hash of the node over its two halves, which
 *       RFC 6962 parts at the largest power of two below their number;
 *     - for a leaf that is shown, the hash of its data;
 *     - for anything else, the next hash of the proof. They stand in order, from left to right.
 * The hash of all leaves is the root, and no hash of the proof is left over. The root of each smaller size
 * follows from the same hashes, since the marks have parted the tree at it; so does the audit path of every
 * leaf.
 */

/** The part of a tree that a proof shows. */
export interface ShownTree {
  /** The root of the first `size` leaves, if the proof shows it: at its sizes, and after each shown leaf. */
  root(size: number): Buffer | undefined;
  /** RFC 6962 audit path of a shown leaf, to the root of the whole tree. */
  path(index: number): readonly Buffer[];
}

/** The subject of a proof: leaves and sizes of a tree of `size` leaves, in any order. */
export interface Shown {
  readonly size: number;
  readonly leaves: readonly number[];
  readonly sizes: readonly number[];
}

/**
 * The hashes of the proof, hex, in order. Asks the log for the fewest audit paths that contain them all.
 * Rejects like the log if nodes are missing.
 */
export async function treeProof(log: Pick<Log, 'inclusion' | 'consistency' | 'rootAt'>, shown: Shown) {
  const known = new Map<string, string>();
  const learn = (ranges: readonly Range[], hashes: readonly string[]) => {
    for (const [at, range] of ranges.entries()) known.set(keyOf(range), hashes[at] ?? '');
  };
  const leaves = [...shown.leaves].sort((a, b) => a - b);
  const isShown = new Set(leaves);
  for (const size of new Set([...shown.sizes, shown.size])) {
    learn(consistencyRanges(size, shown.size), await log.consistency(size, shown.size));
    known.set(keyOf([0, size]), await log.rootAt(size));
  }
  const nodes: string[] = [];
  let next = 0;
  for (const range of rangesOf(shown)) {
    const [first, end] = range;
    if (end - first === 1 && isShown.has(first)) continue;
    while ((leaves[next] ?? end) < first) next += 1;
    // Its sibling holds a shown leaf, the last one before it or the first one after it, whose path contains
    // this range.
    for (const beside of [leaves[next], leaves[next - 1]])
      if (!known.has(keyOf(range)) && beside !== undefined)
        learn(inclusionRanges(beside, shown.size), await log.inclusion(beside, shown.size));
    nodes.push(known.get(keyOf(range)) ?? '');
  }
  return nodes;
}

/**
 * What leaves and a proof show of a tree. Undefined if the proof is not exactly the one for them, or the
 * numbers fit no tree. Only the root tells whether it is the right tree. Never throws.
 */
export function openTree(
  size: number,
  leaves: ReadonlyMap<number, Uint8Array>,
  sizes: readonly number[],
  nodes: readonly Uint8Array[],
): ShownTree | undefined {
  const isIn = (number: number, least: number) =>
    Number.isSafeInteger(number) && number >= least && number <= size;
  if (!isIn(size, 1) || !sizes.every((at) => isIn(at, 1))) return undefined;
  if (![...leaves.keys()].every((index) => isIn(index, 0) && index < size)) return undefined;
  const known = new Map<string, Buffer>();
  const ranges = rangesOf({ size, leaves: [...leaves.keys()], sizes });
  let used = 0;
  for (const range of ranges) {
    const [first, end] = range;
    const hash = (end - first === 1 ? leaves.get(first) : undefined) ?? nodes[used++];
    if (hash?.length !== 32) return undefined;
    known.set(keyOf(range), Buffer.from(hash));
  }
  if (used !== nodes.length) return undefined;
  const rangeOf = (first: number, end: number): Buffer | undefined => {
    const there = known.get(keyOf([first, end]));
    if (there !== undefined || end - first <= 1) return there;
    const split = first + splitOf(end - first);
    const left = rangeOf(first, split);
    const right = left === undefined ? undefined : rangeOf(split, end);
    if (left === undefined || right === undefined) return undefined;
    const hash = nodeHash(left, right);
    known.set(keyOf([first, end]), hash);
    return hash;
  };
  rangeOf(0, size);
  const shown = new Set([size, ...sizes, ...[...leaves.keys()].map((index) => index + 1)]);
  return {
    root: (at) => (shown.has(at) ? rangeOf(0, at) : undefined),
    path: (index) => inclusionRanges(index, size).flatMap(([first, end]) => rangeOf(first, end) ?? []),
  };
}

/** The ranges that no mark splits, from left to right: shown leaves, and hashes of the proof. */
function rangesOf({ size, leaves, sizes }: Shown): readonly Range[] {
  const marks = [...sizes, ...leaves, ...leaves.map((index) => index + 1)].sort((a, b) => a - b);
  const ranges: Range[] = [];
  let mark = 0;
  const part = (first: number, end: number): void => {
    while ((marks[mark] ?? end) <= first) mark += 1;
    if ((marks[mark] ?? end) >= end) return void ranges.push([first, end]);
    const split = first + splitOf(end - first);
    part(first, split);
    part(split, end);
  };
  part(0, size);
  return ranges;
}

function keyOf([first, end]: Range): string {
  return `${first} ${end}`;
}
