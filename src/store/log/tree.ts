import { completedBy, EMPTY_ROOT, type NodeOf, nodeHash } from './merkle.ts';

/*
 * How a store keeps the tree: what it needs of it to append, and which nodes a root or a proof asks for.
 * Pure, so that every engine reads as it likes: one look-up a node, or all of them in one question.
 */

/** The name of a full subtree (merkle.ts). */
export interface NodeName {
  readonly level: number;
  readonly index: number;
}

/**
 * The full subtrees that a tree of `size` leaves consists of, from the left: as many as `size` has ones in
 * binary.
 */
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

/** The right rim of a tree: all that is needed to append to it and to know its root. */
export interface Rim {
  readonly size: number;
  /** The hashes of `peaksOf(size)`. */
  readonly peaks: readonly Buffer[];
}

export const EMPTY_RIM: Rim = { size: 0, peaks: [] };

/**
 * The tree with one more leaf, and the nodes that it completes (`completedBy`), one after the other, as they
 * are stored.
 */
export function grow({ size, peaks }: Rim, leaf: Buffer): { readonly rim: Rim; readonly tree: Buffer } {
  const completed = completedBy(size, leaf, (level) => peaks.at(-1 - level) ?? missing());
  const rim = [...peaks.slice(0, peaks.length - completed.length), completed.at(-1) ?? leaf];
  return { rim: { size: size + 1, peaks: rim }, tree: Buffer.concat(completed) };
}

/** The root of the tree. */
export function rootOfRim({ peaks }: Rim): Buffer {
  return peaks.length === 0 ? EMPTY_ROOT : peaks.reduceRight((right, left) => nodeHash(left, right));
}

/**
 * The nodes that a root or a proof reads: for an engine that fetches them all at once, before it is computed.
 */
export function nodesRead(compute: (node: NodeOf) => unknown): readonly NodeName[] {
  const names: NodeName[] = [];
  compute((level, index) => {
    names.push({ level, index });
    return EMPTY_ROOT;
  });
  return names;
}

/**
 * The hash of a node from what is stored with the leaf that completed it, at its `placeOf`; undefined where
 * it is not there.
 */
export function nodeAt(
  stored: { readonly hash: unknown; readonly tree: unknown } | undefined,
  place: number,
): Uint8Array | undefined {
  if (stored === undefined) return undefined;
  const [bytes, from] = place === -1 ? [stored.hash, 0] : [stored.tree, place * HASH];
  if (!(bytes instanceof Uint8Array) || bytes.length < from + HASH) return undefined;
  return bytes.subarray(from, from + HASH);
}

/** Bytes of a hash. */
const HASH = 32;

function missing(): never {
  throw new RangeError('the rim of the tree does not fit its size');
}
