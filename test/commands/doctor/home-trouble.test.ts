import { expect, test } from 'vitest';
import { homeTrouble } from '../../../src/commands/doctor/home-trouble.ts';

/** A folder with this many bytes free, or one to which the system lets nothing be written. */
function disk({ free = 1e9, denied }: { readonly free?: number; readonly denied?: string }) {
  return {
    free: async () => free,
    writable: async () => {
      if (denied !== undefined) throw Object.assign(new Error(denied), { code: denied });
    },
  };
}

const SAFE = expect.stringContaining('looking is safe');

test('a home with free space, or one that does not exist yet, causes no finding', async () => {
  expect(await homeTrouble('/srv/home', disk({}))).toBeUndefined();
  expect(await homeTrouble('/srv/home', disk({ denied: 'ENOENT' }))).toBeUndefined();
});

test('a full disk is reported as full, with what is safe and how to continue', async () => {
  expect(await homeTrouble('/srv/home', disk({ free: 4096 }))).toEqual({
    text: 'the disk of /srv/home is full: 4 KiB free',
    hints: [SAFE, 'make room: df -h /srv/home'],
  });
});

test.each([
  ['EROFS', 'the disk is read-only'],
  ['EACCES', 'it is not allowed'],
])('a home that cannot be written to says why (%s)', async (code, why) => {
  expect(await homeTrouble('/srv/home', disk({ denied: code }))).toEqual({
    text: `nothing can be written to /srv/home: ${why}`,
    hints: [SAFE, 'make it writable again'],
  });
});
