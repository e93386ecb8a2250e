import { randomBytes } from 'node:crypto';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { probe, probeKeys } from '../../src/backup/probe.ts';
import { Secret } from '../../src/base/secret.ts';
import { backupOf, KEY, makeFolder, openssl, PROFILES, run, seal } from './kit.ts';

const OTHER = new Secret('another key');

describe.each(PROFILES)('a backup made by gzip and openssl with %s', (profile) => {
  const folder = makeFolder();
  let head: Buffer;
  beforeAll(async () => {
    const packed = await run('gzip', ['-c'], Buffer.from('some content'));
    head = (await openssl(folder, '-e', profile, packed)).subarray(0, 32);
  });

  test('is recognized by its first 32 bytes, and its profile is detected', () => {
    expect(probe(head, KEY)).toEqual({ result: 'fits', profile });
  });

  test('is refused with another key, or with another profile', () => {
    expect(probe(head, OTHER)).toEqual({ result: 'wrong-key' });
    for (const wrong of PROFILES.filter((name) => name !== profile)) {
      expect(probe(head, KEY, wrong)).toEqual({ result: 'wrong-key' });
    }
  });

  test('shows which of several keys opens it', () => {
    const candidates = [
      { fingerprint: 'aaaaaaaaaaaa', key: OTHER },
      { fingerprint: 'bbbbbbbbbbbb', key: KEY },
    ];
    expect(probeKeys(head, candidates)).toEqual({ result: 'fits', fingerprint: 'bbbbbbbbbbbb', profile });
    expect(probeKeys(head, candidates.slice(0, 1))).toEqual({ result: 'wrong-key' });
    expect(probeKeys(head, [])).toEqual({ result: 'wrong-key' });
  });
});

test('3,000 wrong keys are all refused', async () => {
  const head = await backupOf(Buffer.from('x'));
  expect(head.length).toBe(48);
  for (let count = 0; count < 3000; count++) {
    const key = new Secret(randomBytes(24).toString('base64url'));
    expect(probe(head, key, 'md5').result).toBe('wrong-key');
    expect(probe(head, key, 'sha256').result).toBe('wrong-key');
    // The slow derivation is only sampled.
    if (count % 100 === 0) expect(probe(head, key, 'pbkdf2').result).toBe('wrong-key');
  }
});

test.each([
  ['', 'empty'],
  ['<!DOCTYPE html><html>login</html>', 'html'],
  ['{"error":"notFound"}', 'json'],
  ['\x1f\x8b\x08\x00\x00\x00', 'gzip'],
  ['PGDMP and more bytes than a probe needs', 'unknown'],
])('%j is no backup and looks like %s', (text, looksLike) => {
  const head = Buffer.from(text, 'latin1');
  expect(probe(head, KEY)).toEqual({ result: 'not-a-backup', looksLike });
  expect(probeKeys(head, [{ fingerprint: 'x', key: KEY }])).toEqual({ result: 'not-a-backup', looksLike });
});

test.each([0x20, 0x40, 0x80])(
  'a first block with the reserved gzip flag 0x%x is a wrong key',
  async (flag) => {
    const block = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0];
    expect(probe(await seal(Buffer.from(block)), KEY).result).toBe('fits');
    block[3] = flag;
    expect(probe(await seal(Buffer.from(block)), KEY)).toEqual({ result: 'wrong-key' });
  },
);

test.each([1, 7, 8, 16, 31])(
  'the first %d bytes of a backup are reported as truncated, not as a wrong key',
  async (length) => {
    const head = (await backupOf(Buffer.from('x'))).subarray(0, length);
    expect(() => probe(head, KEY)).toThrow(expect.objectContaining({ code: 'backup.truncated' }));
  },
);

describe('on a host that refuses MD5', () => {
  test('the other profiles are still detected, and an error says what needs MD5', async () => {
    vi.resetModules();
    vi.doMock('node:crypto', async (original) => {
      const crypto = await original<typeof import('node:crypto')>();
      const createHash = (name: string) => {
        if (name === 'md5') throw new Error('error:0308010C:digital envelope routines::unsupported');
        return crypto.createHash(name);
      };
      return { ...crypto, createHash };
    });
    try {
      const fips = await import('../../src/backup/probe.ts');
      const sha256 = await backupOf(Buffer.from('x'), 'sha256');
      const md5 = await backupOf(Buffer.from('x'), 'md5');
      expect(fips.probe(sha256, KEY)).toEqual({ result: 'fits', profile: 'sha256' });
      expect(() => fips.probe(md5, KEY)).toThrow(
        expect.objectContaining({
          code: 'backup.no-md5',
          shortMessage: 'this host refuses md5: its OpenSSL runs in FIPS mode',
        }),
      );
    } finally {
      vi.doUnmock('node:crypto');
      vi.resetModules();
    }
  });
});
