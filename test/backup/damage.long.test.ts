import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { verifyStream } from '../../src/backup/verify-file.ts';
import { backupOf, KEY, noise, seal, sealUnpadded, tarOf } from './kit.ts';

const verify = (file: Uint8Array) => verifyStream(Readable.from([file]), { key: KEY });

let file: Buffer;
let tar: Buffer;
beforeAll(async () => {
  tar = await tarOf({ text: noise(8000, 5, 20), bytes: noise(2000), more: noise(6000, 6, 4) });
  file = await backupOf(tar);
});

test('a file cut anywhere is reported as truncated, never as anything else', async () => {
  for (let length = 1; length < file.length; length += length % 16 === 0 ? 1 : 5) {
    const report = await verify(file.subarray(0, length));
    expect(report, `cut at ${length}`).toMatchObject({ ok: false, problem: 'truncated' });
  }
});

test('a file without its last padding block is truncated, although its gzip is whole', async () => {
  for (let extra = 0; extra < 16; extra++) {
    const packed = gzipSync(noise(1000 + extra, 3));
    if (packed.length % 16 !== 0) continue;
    const cut = (await seal(packed)).subarray(0, -16);
    expect(await verify(cut)).toMatchObject({
      problem: 'truncated',
      shortMessage: `the file ends at byte ${cut.length}: the gzip data is whole, but the final padding block is missing`,
    });
    return;
  }
  expect.unreachable('no length of the content gives whole blocks');
});

test('a file of several gzip members is truncated wherever it is cut', async () => {
  const joined = await seal(Buffer.concat([gzipSync(noise(500)), gzipSync(noise(700)), gzipSync('z')]));
  for (let length = 1; length < joined.length; length++) {
    const report = await verify(joined.subarray(0, length));
    expect(report, `cut at ${length}`).toMatchObject({ ok: false, problem: 'truncated' });
  }
});

test('a flipped bit is never accepted, and is named by its position', async () => {
  await fc.assert(
    fc.asyncProperty(fc.nat(file.length * 8 - 1), async (bit) => {
      const at = bit >> 3;
      const damaged = Buffer.from(file);
      damaged[at] = (damaged[at] ?? 0) ^ (1 << (bit & 7));
      const report = await verify(damaged);
      const problem = report.ok ? 'accepted' : report.problem;
      if (at < 8) expect(problem).toBe('not-a-backup');
      else if (at < 32) expect(problem).toBe('wrong-key');
      // In the last blocks a flip can hide the end of the gzip data: then it looks truncated.
      else if (at < file.length - 128) expect(problem).toBe('corrupt');
      else expect(['corrupt', 'truncated']).toContain(problem);
    }),
    { numRuns: 1000 },
  );
});

test('bytes replaced, moved or left out anywhere are never accepted', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.nat(file.length - 1),
      fc.uint8Array({ minLength: 0, maxLength: 64 }),
      fc.nat(64),
      async (at, bytes, removed) => {
        const damaged = Buffer.concat([file.subarray(0, at), bytes, file.subarray(at + removed)]);
        fc.pre(!damaged.equals(file));
        expect((await verify(damaged)).ok).toBe(false);
      },
    ),
    { numRuns: 1000 },
  );
});

test('content that was changed before its checksum was made is the only damage that passes', async () => {
  const changed = Buffer.from(tar);
  changed[600] = 0x21;
  expect((await verify(await backupOf(changed))).ok).toBe(true);
});

describe('a file in which only the last bytes show the damage', () => {
  test('because the gzip length differs from that of the content', async () => {
    const packed = gzipSync(tar);
    packed.writeUInt32LE(tar.length + 1, packed.length - 4);
    expect(await verify(await seal(packed))).toMatchObject({
      ok: false,
      problem: 'corrupt',
      shortMessage: `the gzip length does not match, after ${tar.length} bytes of content`,
    });
  });

  test.each([0, 1])('because byte %d of its padding is another', async (at) => {
    // Stored content grows by a fixed frame of 23 bytes: four bytes of padding are left.
    const packed = gzipSync(noise(21), { level: 0 });
    const length = 16 - (packed.length % 16);
    expect(length).toBe(4);
    const padding = Buffer.alloc(length, length);
    const whole = sealUnpadded(Buffer.concat([packed, padding]));
    expect(await verify(whole)).toMatchObject({ ok: true });
    padding[at] = 0;
    const damaged = sealUnpadded(Buffer.concat([packed, padding]));
    expect(await verify(damaged)).toMatchObject({
      ok: false,
      problem: 'corrupt',
      shortMessage: `the padding after byte ${packed.length} of the decrypted data is damaged`,
    });
  });
});
