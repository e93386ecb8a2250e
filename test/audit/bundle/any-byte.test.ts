import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { unpackFiles } from '../../../src/audit/bundle/pack.ts';
import { verifyBundle } from '../../../src/audit/bundle/verify-bundle.ts';
import { verdictOf } from '../../../src/audit/verdict.ts';
import { bundleOf, layOut, makeEvidence } from './scene.ts';

const VERIFIER = resolve('src/audit/bundle/verify.mjs');
const folder = mkdtempSync(join(tmpdir(), 'lifeboat-bytes-'));
let tar: Buffer;

beforeAll(async () => {
  tar = await bundleOf(await makeEvidence(join(folder, 'home')));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A change to a run of bytes: changed, removed, or inserted. */
const damage = fc.record({
  where: fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
  how: fc.constantFrom('flip', 'cut', 'insert', 'zero'),
  bit: fc.integer({ min: 0, max: 7 }),
  length: fc.oneof(fc.constant(1), fc.integer({ min: 1, max: 2048 })),
});
type Damage = typeof damage extends fc.Arbitrary<infer T> ? T : never;

function damaged(bytes: Buffer, { where, how, bit, length }: Damage): Buffer {
  const at = Math.floor(where * bytes.length);
  const [before, hit, after] = [
    bytes.subarray(0, at),
    bytes.subarray(at, at + length),
    bytes.subarray(at + length),
  ];
  if (how === 'cut') return Buffer.concat([before, after]);
  if (how === 'zero') return Buffer.concat([before, Buffer.alloc(hit.length), after]);
  if (how === 'insert') return Buffer.concat([before, Buffer.alloc(length, 1 << bit), hit, after]);
  const flipped = Buffer.from(bytes);
  flipped[at] = (flipped[at] ?? 0) ^ (1 << bit);
  return flipped;
}

function isFound(bytes: Buffer): boolean {
  const { files, sound } = unpackFiles(bytes);
  return !sound || verdictOf(verifyBundle(files, {}).findings) === 'not-intact';
}

function isFoundAlone(place: string): boolean {
  const { status } = spawnSync(process.execPath, [VERIFIER, place], { encoding: 'utf8' });
  return status === 1;
}

describe('any change to the bytes of a bundle is found', () => {
  test('by audit verify', () => {
    fc.assert(
      fc.property(damage, (how) => {
        const bytes = damaged(tar, how);
        fc.pre(!bytes.equals(tar));
        expect(isFound(bytes)).toBe(true);
      }),
      { numRuns: 250 },
    );
  });

  test('by audit verify in every byte of the first header of the tar, and all over its end', () => {
    const places = [...Array(512).keys(), ...Array.from({ length: 64 }, (_, at) => tar.length - 1 - 16 * at)];
    for (const at of places) {
      const bytes = Buffer.from(tar);
      bytes[at] = (bytes[at] ?? 0) ^ 0x20;
      expect(isFound(bytes), `byte ${at}`).toBe(true);
    }
  });

  test('in every file of the unpacked folder, by both', () => {
    const { files } = unpackFiles(tar);
    for (const name of files.keys()) {
      const changed = new Map(files);
      const bytes = Buffer.from(files.get(name) ?? '');
      changed.set(name, damaged(bytes, { where: 0.5, how: 'flip', bit: 1, length: 1 }));
      expect(verdictOf(verifyBundle(changed, {}).findings), name).toBe('not-intact');
      const place = layOut(changed, join(folder, `unpacked-${name.replaceAll('/', '-')}`));
      expect(isFoundAlone(place), name).toBe(true);
    }
  });
});
