import { describe, expect, test } from 'vitest';
import { boardRows } from '../../../src/view/app/fleet-row.ts';
import { diskCell, diskRoom, fleetCounts, isOpenTarget } from '../../../src/view/app/status-cells.ts';
import type { DiskFill } from '../../../src/view/fleet/fleet-facts.ts';
import { ago, failedPart, fleetOf, NOW, part, statusOf, unaskedOf } from '../../tui/fake-fleet.ts';

const DISK: DiskFill = { name: 'pg.0.persistent', usedPercent: 41.4, threshold: 80, isOpen: false };
const disk = (given: Partial<DiskFill>) => statusOf('orders', { disk: part({ ...DISK, ...given }) });

describe('the order by danger', () => {
  const fine = statusOf('fine');
  const stopped = statusOf('stopped', { disk: part({ ...DISK, isOpen: true }) });
  const late = statusOf('late', { objectives: { rpo: 60_000 }, window: part('none' as const) });
  const silent = statusOf('silent', { backups: failedPart('no answer') });

  test('puts a stopped node and what could not be recovered before the unknown and the good', () => {
    const names = boardRows(fleetOf([fine, silent, stopped, late]), 'danger').map(({ name }) => name);
    expect(names).toEqual(['stopped', 'late', 'silent', 'fine']);
  });

  test('keeps equal instances in the order of the config', () => {
    const equals = ['c', 'a', 'b'].map((name) => statusOf(name));
    expect(boardRows(fleetOf(equals), 'danger').map(({ name }) => name)).toEqual(['c', 'a', 'b']);
  });

  test('puts a backup of unknown age before the oldest one', () => {
    const old = statusOf('old', { backups: part({ done: [{ id: 1, triggeredAt: ago(900) }] }) });
    const names = boardRows(fleetOf([fine, old, silent]), 'newest backup').map(({ name }) => name);
    expect(names).toEqual(['silent', 'old', 'fine']);
  });

  test('by RPO puts instances without one last', () => {
    const free = statusOf('free', { objectives: {} });
    expect(boardRows(fleetOf([free, fine, late]), 'RPO').map(({ name }) => name)).toEqual([
      'late',
      'fine',
      'free',
    ]);
  });
});

describe('the count of answers', () => {
  test('leaves out a target if it is unknown whether it holds anything', () => {
    const target = unaskedOf('spare', 'target');
    const fleet = fleetOf([statusOf('orders'), target], { answeredAt: new Map([['orders', NOW]]) });
    expect(isOpenTarget(target, fleet.answeredAt)).toBe(true);
    expect(fleetCounts(fleet, NOW)).toMatchObject({ notReady: 0, unknown: 0, ready: 1, waiting: 1 });
    expect(fleetCounts(fleetOf([statusOf('orders'), target]), NOW)).toMatchObject({ unknown: 1, ready: 1 });
  });
});

test.each([
  [disk({}), '41/80 %', 38.6],
  [disk({ isOpen: true }), 'OPEN', 0],
  [disk({ threshold: undefined }), '41/? %', undefined],
  [statusOf('orders', { disk: part('none' as const) }), 'none', undefined],
  [statusOf('orders', { disk: failedPart('no answer') }), '?', undefined],
])('the cell of a disk, %#', (status, cell, room) => {
  expect(diskCell(status)).toBe(cell);
  if (room === undefined) expect(diskRoom(status)).toBeUndefined();
  else expect(diskRoom(status)).toBeCloseTo(room);
});
