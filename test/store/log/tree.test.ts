import { hash } from 'node:crypto';
import { expect, test } from 'vitest';
import {
  consistencyProof,
  EMPTY_FRONTIER,
  grow,
  inclusionProof,
  nodeAt,
  nodesRead,
  peaksOf,
  placeOf,
  rootOf,
  rootOfFrontier,
} from '../../../src/store/log/merkle.ts';

const leaf = (index: number) => hash('sha256', String(index), 'buffer');

/** A tree as a store keeps it, leaf by leaf. */
function kept(size: number) {
  const stored: { hash: Buffer; tree: Buffer }[] = [];
  const frontiers = [EMPTY_FRONTIER];
  let frontier = EMPTY_FRONTIER;
  for (let index = 0; index < size; index += 1) {
    const grown = grow(frontier, leaf(index));
    stored.push({ hash: leaf(index), tree: grown.tree });
    frontier = grown.frontier;
    frontiers.push(frontier);
  }
  const node = (level: number, index: number) => {
    const place = placeOf(level, index);
    const found = nodeAt(stored[place.leaf], place.place);
    if (found === undefined) throw new RangeError(`no node ${level}/${index}`);
    return found;
  };
  return { frontiers, node };
}

const SIZE = 130;
const { frontiers, node } = kept(SIZE);

test('the frontier that grows leaf by leaf has the root and the peaks of the tree at every size', () => {
  for (const [size, frontier] of frontiers.entries()) {
    expect(frontier.size).toBe(size);
    expect(rootOfFrontier(frontier)).toEqual(rootOf(size, node));
    expect(frontier.peaks.map((peak) => peak.toString('hex'))).toEqual(
      peaksOf(size).map(({ level, index }) => Buffer.from(node(level, index)).toString('hex')),
    );
  }
});

test('a tree needs as many peaks as its size has one bits, even beyond 32 bits', () => {
  for (const size of [0, 1, 6, 255, 2 ** 31, 2 ** 40 + 2 ** 33 + 1, Number.MAX_SAFE_INTEGER])
    expect(peaksOf(size)).toHaveLength(BigInt(size).toString(2).replaceAll('0', '').length);
});

test('the nodes needed for a root or a proof are known beforehand, so that they can be fetched at once', () => {
  const asked = (compute: (of: typeof node) => unknown) => {
    const fetched = new Map(
      nodesRead(compute).map(({ level, index }) => [`${level}/${index}`, node(level, index)]),
    );
    return compute((level, index) => fetched.get(`${level}/${index}`) ?? expect.unreachable());
  };
  for (const size of [1, 2, 7, 64, 100, SIZE]) {
    expect(asked((of) => rootOf(size, of))).toEqual(rootOf(size, node));
    for (const at of [0, size >> 1, size - 1]) {
      expect(asked((of) => inclusionProof(at, size, of))).toEqual(inclusionProof(at, size, node));
      expect(asked((of) => consistencyProof(at, size, of))).toEqual(consistencyProof(at, size, node));
    }
  }
});

test('a node that is missing or truncated counts as missing', () => {
  const tree = Buffer.alloc(64, 1);
  expect(nodeAt(undefined, -1)).toBeUndefined();
  expect(nodeAt({ hash: 'text', tree }, -1)).toBeUndefined();
  expect(nodeAt({ hash: leaf(1), tree }, -1)).toEqual(leaf(1));
  expect(nodeAt({ hash: leaf(1), tree }, 1)).toHaveLength(32);
  expect(nodeAt({ hash: leaf(1), tree }, 2)).toBeUndefined();
  expect(nodeAt({ hash: leaf(1), tree: tree.subarray(0, 63) }, 1)).toBeUndefined();
});
