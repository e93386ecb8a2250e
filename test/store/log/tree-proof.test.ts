import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  consistencyProof,
  inclusionProof,
  leafHash,
  openTree,
  provesInclusion,
  rootOf,
  treeProof,
} from '../../../src/store/log/merkle.ts';
import { altered, someLeaves, storedTree } from './naive.ts';

const LEAVES = someLeaves(1_000);
const HASHES = LEAVES.map(leafHash);
const node = storedTree(LEAVES);
const hex = (hashes: readonly Buffer[]) => hashes.map((hash) => hash.toString('hex'));
let asked = 0;
const log = {
  rootAt: async (size: number) => rootOf(size, node).toString('hex'),
  inclusion: async (index: number, size: number) => {
    asked += 1;
    return hex(inclusionProof(index, size, node));
  },
  consistency: async (from: number, size: number) => hex(consistencyProof(from, size, node)),
};

/** A tree, some of its leaves, and some smaller sizes; often many in a row, as those of a run are. */
const shown = fc
  .record({
    size: fc.integer({ min: 1, max: LEAVES.length }),
    picked: fc.array(fc.tuple(fc.nat(), fc.integer({ min: 1, max: 20 })), { maxLength: 6 }),
    cuts: fc.array(fc.nat(), { maxLength: 5 }),
    seed: fc.nat(),
  })
  .map(({ size, picked, cuts, seed }) => {
    const run = ([at, count]: [number, number]) =>
      Array.from({ length: count }, (_, step) => (at % size) + step);
    const leaves = [...new Set(picked.flatMap(run))].filter((index) => index < size);
    return { size, leaves, sizes: [...new Set(cuts.map((cut) => (cut % size) + 1))], seed };
  });

const hashesOf = (leaves: readonly number[]) =>
  new Map(leaves.map((index) => [index, HASHES[index] ?? Buffer.alloc(0)]));

test('a proof shows the root, that of every smaller size, and the audit path of every leaf', async () => {
  await fc.assert(
    fc.asyncProperty(shown, async ({ size, leaves, sizes }) => {
      const nodes = await treeProof(log, { size, leaves, sizes });
      const bytes = nodes.map((node) => Buffer.from(node, 'hex'));
      const tree = openTree(size, hashesOf(leaves), sizes, bytes);
      for (const at of [size, ...sizes, ...leaves.map((index) => index + 1)])
        expect(tree?.root(at)).toEqual(rootOf(at, node));
      for (const index of leaves) {
        const path = tree?.path(index) ?? [];
        expect(path).toEqual(inclusionProof(index, size, node));
        expect(provesInclusion(HASHES[index] ?? Buffer.alloc(0), index, size, path, rootOf(size, node))).toBe(
          true,
        );
      }
    }),
    { numRuns: 150 },
  );
});

test('any change to a proof, to a leaf or to its number gives another root', async () => {
  await fc.assert(
    fc.asyncProperty(shown, async ({ size, leaves, sizes, seed }) => {
      const nodes = await treeProof(log, { size, leaves, sizes });
      const bytes = nodes.map((node) => Buffer.from(node, 'hex'));
      const root = rootOf(size, node);
      const opened = (hashes: ReadonlyMap<number, Buffer>, proof: readonly Buffer[], cuts = sizes) =>
        openTree(size, hashes, cuts, proof)?.root(size);
      expect(opened(hashesOf(leaves), altered(bytes, seed))).not.toEqual(root);
      const index = leaves[seed % Math.max(1, leaves.length)];
      if (index === undefined) return;
      const hashes = hashesOf(leaves);
      expect(opened(new Map([...hashes, [index, leafHash('another')]]), bytes)).not.toEqual(root);
      const without = new Map([...hashes].filter(([at]) => at !== index));
      expect(opened(without, bytes)).not.toEqual(root);
      const moved = (index + 1) % size;
      if (hashes.has(moved) || size === 1) return;
      expect(opened(new Map([...without, [moved, hashes.get(index) ?? root]]), bytes)).not.toEqual(root);
    }),
    { numRuns: 300 },
  );
});

test('a proof for a hundred consecutive leaves is hardly longer than for one, and needs few queries', async () => {
  const leaves = Array.from({ length: 100 }, (_, at) => 300 + at);
  asked = 0;
  const nodes = await treeProof(log, { size: 1_000, leaves, sizes: [] });
  expect(nodes.length).toBeLessThan(20);
  expect(asked).toBeLessThan(12);
});

test('impossible numbers prove nothing', () => {
  const hash = HASHES[0] ?? Buffer.alloc(0);
  for (const size of [0, -1, 0.5, Number.NaN, 2 ** 60, Number.POSITIVE_INFINITY])
    expect(openTree(size, new Map(), [], [hash])).toBeUndefined();
  for (const index of [-1, 1, 0.5, Number.NaN])
    expect(openTree(1, new Map([[index, hash]]), [], [hash])).toBeUndefined();
  for (const at of [-1, 0, 2, 0.5, Number.NaN])
    expect(openTree(1, new Map([[0, hash]]), [at], [])).toBeUndefined();
  const tree = openTree(2 ** 52, new Map(), [], [hash]);
  expect(tree?.root(2 ** 52)).toEqual(hash);
  expect([0, 1, 3, 2 ** 52 - 1, 2 ** 53, -1, 0.5].map((at) => tree?.root(at))).toEqual(
    Array(7).fill(undefined),
  );
});
