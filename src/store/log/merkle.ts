import { hash } from 'node:crypto';
import type { Log } from '../journal.ts';

/*
 * The Merkle tree of RFC 6962, section 2.1, over the entries of a store in order of append. Hashes are 32
 * bytes.
 *
 * A full subtree has a level and an index: leaves are level 0, and node (level, index) covers the leaves
 * index * 2^level to (index + 1) * 2^level - 1. Full subtrees never change, so a store keeps each once: with
 * the leaf that completes it (`completedBy`), on average one more hash per leaf.
 */

/** SHA-256(0x00 || data), RFC 6962 section 2.1. */
export function leafHash(data: string | Uint8Array): Buffer {
  return hash('sha256', Buffer.concat([LEAF, typeof data === 'string' ? Buffer.from(data) : data]), 'buffer');
}

/** SHA-256(0x01 || left || right). */
export function nodeHash(left: Uint8Array, right: Uint8Array): Buffer {
  return hash('sha256', Buffer.concat([NODE, left, right]), 'buffer');
}

/** The SHA-256 of no bytes. */
export const EMPTY_ROOT: Buffer = hash('sha256', '', 'buffer');

const HASH_BYTES = 32;
const LEAF = Buffer.of(0);
const NODE = Buffer.of(1);

/** The hash of a full subtree. Throws if the store does not have it. */
export type NodeOf = (level: number, index: number) => Uint8Array;

/**
 * The full subtrees that a new leaf completes, from level 1 up: as many as the leaf's number, counted from 1,
 * has trailing zero bits. `left` gives nodes of the tree before it.
 */
export function completedBy(index: number, leaf: Uint8Array, left: NodeOf): readonly Buffer[] {
  const completed: Buffer[] = [];
  let node = leaf;
  for (let level = 0, at = index; at % 2 === 1; level += 1, at = Math.floor(at / 2)) {
    const next = nodeHash(left(level, at - 1), node);
    completed.push(next);
    node = next;
  }
  return completed;
}

/** The leaf that completed a node, and the position in `completedBy`; `place` -1: the leaf's own hash. */
export function placeOf(level: number, index: number): { readonly leaf: number; readonly place: number } {
  return { leaf: (index + 1) * 2 ** level - 1, place: level - 1 };
}

export function rootOf(size: number, node: NodeOf): Buffer {
  return size === 0 ? EMPTY_ROOT : rangeOf(0, size, node);
}

/** The leaves `first` to `end - 1`; their hash in RFC 6962 is MTH(D[first:end]). */
type Range = readonly [first: number, end: number];

/**
 * RFC 6962 section 2.1.1: the audit path of the leaf `index` in the tree of `size` leaves, from its sibling
 * up. Throws a RangeError if the tree has no such leaf.
 */
export function inclusionProof(index: number, size: number, node: NodeOf): readonly Buffer[] {
  return inclusionRanges(index, size).map(([first, end]) => rangeOf(first, end, node));
}

/** In the order of the hashes. */
function inclusionRanges(index: number, size: number): readonly Range[] {
  if (!(index >= 0 && index < size)) throw new RangeError(`leaf ${index} is not in a tree of ${size}`);
  const path = (first: number, end: number): Range[] => {
    if (end - first === 1) return [];
    const split = first + splitOf(end - first);
    return index < split ? [...path(first, split), [split, end]] : [...path(split, end), [first, split]];
  };
  return path(0, size);
}

/**
 * RFC 6962 section 2.1.2: the tree of `size` leaves begins with that of `from` leaves. Empty from 0, and
 * between a tree and itself. Throws a RangeError if `from` is larger.
 */
export function consistencyProof(from: number, size: number, node: NodeOf): readonly Buffer[] {
  return consistencyRanges(from, size).map(([first, end]) => rangeOf(first, end, node));
}

/** In the order of the hashes. */
function consistencyRanges(from: number, size: number): readonly Range[] {
  if (!(from >= 0 && from <= size)) throw new RangeError(`a tree of ${size} does not begin with ${from}`);
  if (from === 0 || from === size) return [];
  const sub = (first: number, end: number, isWhole: boolean): Range[] => {
    if (from === end) return isWhole ? [] : [[first, end]];
    const split = first + splitOf(end - first);
    return from <= split
      ? [...sub(first, split, isWhole), [split, end]]
      : [...sub(split, end, false), [first, split]];
  };
  return sub(0, size, true);
}

/** RFC 9162 section 2.1.3.2: whether a path leads from a leaf to a root. Never throws. */
export function provesInclusion(
  leaf: Uint8Array,
  index: number,
  size: number,
  path: readonly Uint8Array[],
  root: Uint8Array,
): boolean {
  if (!(Number.isSafeInteger(index) && index >= 0 && index < size)) return false;
  if (leaf.length !== HASH_BYTES || path.some(({ length }) => length !== HASH_BYTES)) return false;
  let [fn, sn] = [index, size - 1];
  let node: Buffer = Buffer.from(leaf);
  for (const sibling of path) {
    if (sn === 0) return false;
    if (fn % 2 === 1 || fn === sn) {
      node = nodeHash(sibling, node);
      while (fn % 2 === 0 && fn !== 0) [fn, sn] = [fn / 2, Math.floor(sn / 2)];
    } else node = nodeHash(node, sibling);
    [fn, sn] = [Math.floor(fn / 2), Math.floor(sn / 2)];
  }
  return sn === 0 && node.equals(root);
}

/** RFC 9162 section 2.1.4.2: whether one tree begins with another, of at least one leaf. Never throws. */
export function provesConsistency(
  from: number,
  size: number,
  path: readonly Uint8Array[],
  fromRoot: Uint8Array,
  root: Uint8Array,
): boolean {
  if (!(Number.isSafeInteger(from) && Number.isSafeInteger(size) && from >= 1 && from <= size)) return false;
  if (path.some(({ length }) => length !== HASH_BYTES)) return false;
  if (from === size) return path.length === 0 && Buffer.from(fromRoot).equals(root);
  const [first, ...rest] = isPowerOfTwo(from) ? [fromRoot, ...path] : path;
  if (first === undefined) return false;
  let [fn, sn] = [from - 1, size - 1];
  while (fn % 2 === 1) [fn, sn] = [Math.floor(fn / 2), Math.floor(sn / 2)];
  let [old, now]: [Buffer, Buffer] = [Buffer.from(first), Buffer.from(first)];
  for (const sibling of rest) {
    if (sn === 0) return false;
    if (fn % 2 === 1 || fn === sn) {
      old = nodeHash(sibling, old);
      now = nodeHash(sibling, now);
      while (fn % 2 === 0 && fn !== 0) [fn, sn] = [fn / 2, Math.floor(sn / 2)];
    } else now = nodeHash(now, sibling);
    [fn, sn] = [Math.floor(fn / 2), Math.floor(sn / 2)];
  }
  return sn === 0 && old.equals(fromRoot) && now.equals(root);
}

/** Of the leaves `first` to `end - 1`; the largest power of two within that count divides `first`. */
function rangeOf(first: number, end: number, node: NodeOf): Buffer {
  const count = end - first;
  if (isPowerOfTwo(count)) return Buffer.from(node(Math.round(Math.log2(count)), first / count));
  const split = first + splitOf(count);
  return nodeHash(rangeOf(first, split, node), rangeOf(split, end, node));
}

/** Where RFC 6962 splits `count` leaves (more than 1): the largest power of two below it. */
export function splitOf(count: number): number {
  // The logarithm of a large number is rounded: its ceiling would be wrong next to a power of two.
  const near = 2 ** Math.round(Math.log2(count));
  return near < count ? near : near / 2;
}

function isPowerOfTwo(count: number): boolean {
  return count === 1 || count === 2 * splitOf(count);
}

/*
 * How a store keeps the tree: what an append needs, and which nodes a root or a proof reads. Pure, so each
 * engine can choose between one look-up per node and one query for all.
 */

export interface NodeName {
  readonly level: number;
  readonly index: number;
}

/** From the left: as many as `size` has one bits. */
export function peaksOf(size: number): readonly NodeName[] {
  const peaks: NodeName[] = [];
  for (let level = Math.floor(Math.log2(Math.max(size, 1))), first = 0; first < size; level -= 1) {
    const count = 2 ** level;
    if (first + count > size) continue;
    peaks.push({ level, index: first / count });
    first += count;
  }
  return peaks;
}

/** The right edge of a tree: enough to append to it and to compute its root. */
export interface Frontier {
  readonly size: number;
  /** The hashes of `peaksOf(size)`. */
  readonly peaks: readonly Buffer[];
}

export const EMPTY_FRONTIER: Frontier = { size: 0, peaks: [] };

/** Adds a leaf; `tree` has the nodes that it completes (`completedBy`), as stored. */
export function grow(
  { size, peaks }: Frontier,
  leaf: Buffer,
): { readonly frontier: Frontier; readonly tree: Buffer } {
  const completed = completedBy(size, leaf, (level) => peaks.at(-1 - level) ?? missing());
  const frontier = [...peaks.slice(0, peaks.length - completed.length), completed.at(-1) ?? leaf];
  return { frontier: { size: size + 1, peaks: frontier }, tree: Buffer.concat(completed) };
}

export function rootOfFrontier({ peaks }: Frontier): Buffer {
  return peaks.length === 0 ? EMPTY_ROOT : peaks.reduceRight((right, left) => nodeHash(left, right));
}

/** For an engine that fetches all nodes of a root or a proof before it computes. */
export function nodesRead(compute: (node: NodeOf) => unknown): readonly NodeName[] {
  const names: NodeName[] = [];
  compute((level, index) => {
    names.push({ level, index });
    return EMPTY_ROOT;
  });
  return names;
}

/** From the data stored with the leaf of its `placeOf`; undefined if missing. */
export function nodeAt(
  stored: { readonly hash: unknown; readonly tree: unknown } | undefined,
  place: number,
): Uint8Array | undefined {
  if (stored === undefined) return undefined;
  const [bytes, from] = place === -1 ? [stored.hash, 0] : [stored.tree, place * HASH_BYTES];
  if (!(bytes instanceof Uint8Array) || bytes.length < from + HASH_BYTES) return undefined;
  return bytes.subarray(from, from + HASH_BYTES);
}

function missing(): never {
  throw new RangeError('the frontier of the tree does not fit its size');
}

/*
 * One proof for many leaves and sizes of a tree: it contains these leaves, and begins with the tree of each
 * of these smaller sizes. It holds once each hash that the RFC 6962 audit paths and consistency proofs would
 * hold many times, and is verified by computing the root by the definition of the tree:
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

export interface ShownTree {
  /** Of the first `size` leaves, if shown: at the proof's sizes, and after each shown leaf. */
  root(size: number): Buffer | undefined;
  /** RFC 6962 audit path, to the root of the whole tree. */
  path(index: number): readonly Buffer[];
}

/** In any order. */
interface Shown {
  readonly size: number;
  readonly leaves: readonly number[];
  readonly sizes: readonly number[];
}

/** Hex, in order, from the fewest audit paths with them all. Rejects like the log if nodes are missing. */
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
    // Its sibling holds the last shown leaf before it or the first one after it, whose path has this range.
    for (const beside of [leaves[next], leaves[next - 1]])
      if (!known.has(keyOf(range)) && beside !== undefined)
        learn(inclusionRanges(beside, shown.size), await log.inclusion(beside, shown.size));
    nodes.push(known.get(keyOf(range)) ?? '');
  }
  return nodes;
}

/**
 * What leaves and a proof show of a tree. Undefined if the proof is not exactly theirs, or the numbers fit no
 * tree. Only the root tells whether it is the right tree. Never throws.
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

/** From left to right: shown leaves, and hashes of the proof. */
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
