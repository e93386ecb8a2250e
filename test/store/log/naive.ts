import { createHash } from 'node:crypto';
import { completedBy, leafHash, type NodeOf, placeOf } from '../../../src/store/log/merkle.ts';

/*
 * RFC 6962, section 2.1, implemented literally: slow, and with nothing cached. The store's results are
 * compared with it.
 */

const sha256 = (...parts: readonly Uint8Array[]) =>
  createHash('sha256').update(Buffer.concat(parts)).digest();

/** MTH(D[n]). */
export function naiveRoot(leaves: readonly Uint8Array[]): Buffer {
  const [first, ...rest] = leaves;
  if (first === undefined) return sha256();
  if (rest.length === 0) return sha256(Buffer.of(0), first);
  const k = naiveSplit(leaves.length);
  return sha256(Buffer.of(1), naiveRoot(leaves.slice(0, k)), naiveRoot(leaves.slice(k)));
}

/** PATH(m, D[n]). */
export function naivePath(m: number, leaves: readonly Uint8Array[]): Buffer[] {
  if (leaves.length === 1) return [];
  const k = naiveSplit(leaves.length);
  return m < k
    ? [...naivePath(m, leaves.slice(0, k)), naiveRoot(leaves.slice(k))]
    : [...naivePath(m - k, leaves.slice(k)), naiveRoot(leaves.slice(0, k))];
}

/** SUBPROOF(m, D[n], b); PROOF(m, D[n]) is it with `true`. */
export function naiveProof(m: number, leaves: readonly Uint8Array[], b = true): Buffer[] {
  if (m === leaves.length) return b ? [] : [naiveRoot(leaves)];
  const k = naiveSplit(leaves.length);
  return m <= k
    ? [...naiveProof(m, leaves.slice(0, k), b), naiveRoot(leaves.slice(k))]
    : [...naiveProof(m - k, leaves.slice(k), false), naiveRoot(leaves.slice(0, k))];
}

function naiveSplit(n: number): number {
  let k = 1;
  while (k * 2 < n) k *= 2;
  return k;
}

/** The nodes of a tree as a store keeps them: each leaf with those that it completes. */
export function storedTree(leaves: readonly Uint8Array[]): NodeOf {
  const rows: { leaf: Buffer; nodes: readonly Buffer[] }[] = [];
  const node: NodeOf = (level, index) => {
    const { leaf, place } = placeOf(level, index);
    const row = rows[leaf];
    const hash = place === -1 ? row?.leaf : row?.nodes[place];
    if (hash === undefined) throw new Error(`there is no node ${level}/${index}`);
    return hash;
  };
  for (const [index, data] of leaves.entries()) {
    const leaf = leafHash(data);
    rows.push({ leaf, nodes: completedBy(index, leaf, node) });
  }
  return node;
}

/** Leaves with distinct contents. */
export function someLeaves(count: number): Buffer[] {
  return Array.from({ length: count }, (_, at) => Buffer.from(`leaf ${at}`));
}

/** An altered proof: one element changed, removed, inserted, or two swapped. */
export function altered(proof: readonly Buffer[], seed: number): Buffer[] {
  const at = proof.length === 0 ? 0 : seed % proof.length;
  const hash = proof[at];
  if (hash === undefined) return [Buffer.alloc(32, seed)];
  const flipped = Buffer.from(hash);
  flipped[seed % 32] = (flipped[seed % 32] ?? 0) ^ (1 << (seed % 8));
  const next = proof[at + 1];
  const ways = [
    proof.with(at, flipped),
    proof.toSpliced(at, 1),
    proof.toSpliced(at, 0, flipped),
    proof.toSpliced(at, 0, hash),
    proof.with(at, hash.subarray(0, 31)),
    [...proof, flipped],
    ...(next === undefined || next.equals(hash) ? [] : [proof.with(at, next).with(at + 1, hash)]),
  ];
  return ways[Math.floor(seed / 7) % ways.length] ?? [];
}
