import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { backupsLastSeen, rememberBackups } from '../../src/compose/last-seen.ts';
import type { LoadedConfig } from '../../src/config/loaded.ts';

const URL = 'https://dashboard.example/service-instances/orders';
const BACKUPS = [{ id: 7, backupId: 'g-1742693407644', triggeredAt: '2026-03-01T02:00:00Z' }];
const AT = new Date('2026-03-01T03:00:00Z');

function look(url = URL) {
  const folder = mkdtempSync(join(tmpdir(), 'lifeboat-seen-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const home = join(folder, 'home');
  const config = { instances: { orders: { url } } } as unknown as LoadedConfig;
  return {
    home,
    remember: rememberBackups({ env: { LIFEBOAT_HOME: home } }, config),
    seen: (now = URL) => backupsLastSeen(home, 'orders', now),
  };
}

test('the backups that an instance listed last are found again, in a file that only its owner can read', async () => {
  const { home, remember, seen } = look();
  await remember('orders', { done: BACKUPS, at: AT, fits: [] });
  expect(seen()).toMatchObject({ at: AT.toISOString(), backups: [{ ...BACKUPS[0], status: 'done' }] });
  expect(statSync(join(home, 'last-seen', 'orders.json')).mode & 0o777).toBe(0o600);
});

test('an empty list replaces nothing, and another list replaces the one before', async () => {
  const { remember, seen } = look();
  await remember('orders', { done: BACKUPS, at: AT, fits: [] });
  await remember('orders', { done: [], at: AT, fits: [] });
  expect(seen()).toMatchObject({ backups: [{ id: 7 }] });
  await remember('orders', { done: [{ id: 8 }, ...BACKUPS], at: AT, fits: [] });
  expect(seen()).toMatchObject({ backups: [{ id: 8 }, { id: 7 }] });
});

test('an unchanged list gets a new date after ten minutes, and not before', async () => {
  const { remember, seen } = look();
  await remember('orders', { done: BACKUPS, at: AT, fits: [] });
  await remember('orders', { done: BACKUPS, at: new Date('2026-03-01T03:09:59Z'), fits: [] });
  expect(seen()).toMatchObject({ at: AT.toISOString() });
  await remember('orders', { done: BACKUPS, at: new Date('2026-03-01T03:10:00Z'), fits: [] });
  expect(seen()).toMatchObject({ at: '2026-03-01T03:10:00.000Z' });
});

test('what was listed under the same name by another instance is not offered', async () => {
  const { remember, seen } = look();
  await remember('orders', { done: BACKUPS, at: AT, fits: [] });
  expect(seen('https://dashboard.example/service-instances/another')).toBeUndefined();
});

test('a file that is not a list gives nothing, and the next look replaces it', async () => {
  const { home, remember, seen } = look();
  mkdirSync(join(home, 'last-seen'), { recursive: true, mode: 0o700 });
  for (const text of ['', '[', 'null', '"a"', '{"place":7}', 'x'.repeat(100_000)]) {
    writeFileSync(join(home, 'last-seen', 'orders.json'), text);
    expect(seen()).toBeUndefined();
  }
  await remember('orders', { done: BACKUPS, at: AT, fits: [] });
  expect(seen()).toMatchObject({ backups: [{ id: 7 }] });
});

test('nothing is stored in a home that is foreign or links elsewhere, and no command stops because of it', async () => {
  const { home, remember, seen } = look();
  mkdirSync(join(home, 'elsewhere'), { recursive: true, mode: 0o700 });
  symlinkSync(join(home, 'elsewhere'), join(home, 'last-seen'));
  await remember('orders', { done: BACKUPS, at: AT, fits: [] });
  expect(seen()).toBeUndefined();
  chmodSync(home, 0o777);
  await remember('orders', { done: BACKUPS, at: AT, fits: [] });
  expect(seen()).toBeUndefined();
});
