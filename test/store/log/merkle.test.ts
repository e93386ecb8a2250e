import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  consistencyProof,
  EMPTY_ROOT,
  inclusionProof,
  leafHash,
  nodeHash,
  provesConsistency,
  provesInclusion,
  rootOf,
  splitOf,
} from '../../../src/store/log/merkle.ts';
import { altered, naivePath, naiveProof, naiveRoot, someLeaves, storedTree } from './naive.ts';

/*
 * The vectors of Certificate Transparency (merkle_tree_test.cc in google/certificate-transparency, later the
 * same numbers in transparency-dev/merkle): eight leaves, the root of each size, and some proofs.
 */
const LEAVES = [
  '',
  '00',
  '10',
  '2021',
  '3031',
  '40414243',
  '5051525354555657',
  '606162636465666768696a6b6c6d6e6f',
].map((text) => Buffer.from(text, 'hex'));
const ROOTS = [
  'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
  '6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d',
  'fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125',
  'aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77',
  'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7',
  '4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4',
  '76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef',
  'ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c',
  '5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328',
];
const [A, B, C, D, E, F, G] = [
  '96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7',
  '5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e',
  '6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4',
  'bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b',
  'ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0',
  '0ebc5d3437fbe2db158b9f126a1d118e308181031d0a949f8dededebc558ef6a',
  'b08693ec2e721597130641e8211e7eedccb4c26413963eee6c1e2ed16ffb1a5f',
];
/** Leaf, size, path. */
const INCLUSIONS = [
  [0, 1, []],
  [0, 8, [A, B, C]],
  [5, 8, [D, E, ROOTS[4]]],
  [2, 3, [ROOTS[2]]],
  [1, 5, [ROOTS[1], B, D]],
] as const;
const CONSISTENCIES = [
  [1, 1, []],
  [1, 8, [A, B, C]],
  [6, 8, [F, E, ROOTS[4]]],
  [2, 5, [B, D]],
  [6, 7, [F, G, ROOTS[4]]],
] as const;

const hex = (hashes: readonly Buffer[]) => hashes.map((hash) => hash.toString('hex'));
const root = (size: number) => Buffer.from(ROOTS[size] ?? '', 'hex');

describe('the vectors of Certificate Transparency', () => {
  const node = storedTree(LEAVES);

  test('give their hashes and roots', () => {
    expect(leafHash('').toString('hex')).toBe(ROOTS[1]);
    expect(leafHash('L123456').toString('hex')).toBe(
      '395aa064aa4c29f7010acfe3f25db9485bbd4b91897b6ad7ad547639252b4d56',
    );
    expect(nodeHash(Buffer.from('N123'), Buffer.from('N456')).toString('hex')).toBe(
      'aa217fe888e47007fa15edab33c2b492a722cb106c64667fc2b044444de66bbb',
    );
    expect(EMPTY_ROOT.toString('hex')).toBe(ROOTS[0]);
    expect(hex(ROOTS.map((_, size) => rootOf(size, node)))).toEqual(ROOTS);
  });

  test.each(INCLUSIONS)('give the audit path of leaf %d among %d', (index, size, path) => {
    expect(hex(inclusionProof(index, size, node))).toEqual(path);
    const leaf = leafHash(LEAVES[index] ?? '');
    const given = path.map((hash) => Buffer.from(hash ?? '', 'hex'));
    expect(provesInclusion(leaf, index, size, given, root(size))).toBe(true);
  });

  test.each(CONSISTENCIES)('give the consistency proof of %d with %d', (from, size, path) => {
    expect(hex(consistencyProof(from, size, node))).toEqual(path);
    const given = path.map((hash) => Buffer.from(hash ?? '', 'hex'));
    expect(provesConsistency(from, size, given, root(from), root(size))).toBe(true);
  });
});

/** A size with one or two smaller numbers. */
const place = fc
  .tuple(fc.integer({ min: 1, max: 2_000 }), fc.nat(), fc.nat())
  .map(([size, index, seed]) => ({ size, index: index % size, from: (index % size) + 1, seed }));
const MAX = someLeaves(2_000);
const stored = storedTree(MAX);

describe('a tree of up to 2,000 leaves', () => {
  test('has the root, the paths and the proofs of the definition', () => {
    fc.assert(
      fc.property(place, ({ size, index, from }) => {
        const leaves = MAX.slice(0, size);
        expect(rootOf(size, stored)).toEqual(naiveRoot(leaves));
        expect(inclusionProof(index, size, stored)).toEqual(naivePath(index, leaves));
        expect(consistencyProof(from, size, stored)).toEqual(naiveProof(from, leaves));
      }),
      { numRuns: 60 },
    );
  });

  test('proves every leaf and every earlier size, and nothing else', () => {
    fc.assert(
      fc.property(place, ({ size, index, from, seed }) => {
        const [whole, part] = [rootOf(size, stored), rootOf(from, stored)];
        const leaf = leafHash(MAX[index] ?? '');
        const path = inclusionProof(index, size, stored);
        const proof = consistencyProof(from, size, stored);
        expect(provesInclusion(leaf, index, size, path, whole)).toBe(true);
        expect(provesConsistency(from, size, proof, part, whole)).toBe(true);
        expect(provesInclusion(leaf, index, size, altered(path, seed), whole)).toBe(false);
        expect(provesConsistency(from, size, altered(proof, seed), part, whole)).toBe(false);
        for (const other of [-1, index ^ 1, index + 1, size, 0.5, Number.NaN])
          if (other !== index) expect(provesInclusion(leaf, other, size, path, whole)).toBe(false);
        const others = [-1, 0, from - 1, from + 1, size + 1, 2 ** 60, Number.NaN];
        for (const other of others) expect(provesConsistency(other, size, proof, part, whole)).toBe(false);
        if (size > 1) expect(provesInclusion(whole, index, size, path, whole)).toBe(false);
        if (from < size) expect(provesConsistency(from, size, proof, whole, whole)).toBe(false);
        if (from < size) expect(provesConsistency(from, size, proof, part, part)).toBe(false);
      }),
      { numRuns: 400 },
    );
  });

  test('has no path or proof for a leaf that it does not hold', () => {
    expect(() => inclusionProof(5, 5, stored)).toThrow('leaf 5 is not in a tree of 5');
    expect(() => inclusionProof(-1, 5, stored)).toThrow(RangeError);
    expect(() => consistencyProof(6, 5, stored)).toThrow('a tree of 5 does not begin with 6');
  });
});

test('a tree is split where the RFC splits it, at any size that a number can express', () => {
  for (let level = 1; level < 53; level += 1) {
    const power = 2 ** level;
    expect([splitOf(power), splitOf(power + 1)]).toEqual([power / 2, power]);
    if (level > 1) expect(splitOf(power - 1)).toBe(power / 2);
  }
});
