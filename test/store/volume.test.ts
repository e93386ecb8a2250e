import { expect, test } from 'vitest';
import { volumeOfSqlite } from '../../src/store/sqlite/volume.ts';
import { firstLeafSince, grownSince } from '../../src/store/volume.ts';
import { openIn } from './open-in.ts';
import { temporaryHome } from './temporary-home.ts';
import { volumeContract } from './volume.ts';

volumeContract('SQLite', async () => {
  const home = temporaryHome();
  await (await openIn(home)).close();
  return { open: () => openIn(home), volume: () => volumeOfSqlite(home) };
});

test('a home without a store has no volume', async () => {
  await expect(volumeOfSqlite(temporaryHome())).rejects.toMatchObject({ code: 'journal.none' });
});

test('seven days are calendar days in UTC, including today', () => {
  expect(grownSince(Date.parse('2026-03-07T23:59:59.999Z'))).toBe('2026-03-01T00:00:00.000Z');
});

test('the first entry after a time is found with few reads, even where entries are missing', async () => {
  const times = Array.from({ length: 1_000_000 }, (_, leaf) => String(leaf).padStart(7, '0'));
  let looks = 0;
  const timeAt = (leaf: number) => {
    looks += 1;
    return times[leaf];
  };
  expect(await firstLeafSince('0765432', times.length, timeAt)).toBe(765_432);
  expect(looks).toBeLessThanOrEqual(21);
  expect(await firstLeafSince('0000000', times.length, timeAt)).toBe(0);
  expect(await firstLeafSince('9', times.length, timeAt)).toBe(times.length);
  expect(await firstLeafSince('5', 10, () => undefined)).toBe(0);
});
