import { expect, test } from 'vitest';
import {
  describePath,
  MAX_POINTS,
  parachuteDisks,
  readMetricPoint,
  readMetrics,
  seriesOf,
} from '../../src/service/metrics.ts';

const GOOD: readonly (readonly [string, number, number])[] = [
  ['p.0.a 1 1700000000', 1, 1_700_000_000_000],
  ['p.0.a -2.5 1700000000', -2.5, 1_700_000_000_000],
  ['p.0.a +1.5E3 1700000000', 1500, 1_700_000_000_000],
  ['p.0.a 1e-3 1.7e9', 0.001, 1_700_000_000_000],
  ['p.0.a .5 1700000000.25', 0.5, 1_700_000_000_250],
  ['  p.0.a \t 5.   1700000000 \n', 5, 1_700_000_000_000],
];
for (const [line, value, atMs] of GOOD) {
  test(`${JSON.stringify(line)} is a data point`, () => {
    expect(readMetricPoint(line)).toEqual({ path: 'p.0.a', value, atMs });
  });
}

for (const line of [
  '',
  'p.0.a',
  'p.0.a 1',
  'p.0.a 1 1700000000 more',
  'p.0.a NaN 1700000000',
  'p.0.a Infinity 1700000000',
  'p.0.a 1e999 1700000000',
  'p.0.a 0x10 1700000000',
  'p.0.a 1,5 1700000000',
  'p.0.a true 1700000000',
  'p.0.a 1 2023-11-14T22:13:20Z',
  'p.0.a 1 1e300',
]) {
  test(`${JSON.stringify(line)} is not a data point`, () => {
    expect(readMetricPoint(line)).toBeUndefined();
  });
}

test('elements that are not text are left out, and a flood leaves the latest points', () => {
  expect(readMetrics([1, null, ['p.0.a 1 1'], {}, 'p.0.a 1 1', '\ud800 1 1'])).toEqual([
    { path: 'p.0.a', value: 1, atMs: 1000 },
    { path: '\ufffd', value: 1, atMs: 1000 },
  ]);
  const flood = Array.from({ length: MAX_POINTS + 5 }, (_, index) => `p.0.a ${index} 1`);
  const points = readMetrics(flood);
  expect(points).toHaveLength(MAX_POINTS);
  expect(points.at(-1)?.value).toBe(MAX_POINTS + 4);
});

test('series are sorted by time and keep unknown paths in their order', () => {
  const points = readMetrics(['b 2 20', 'a.0.x 1 10', 'b 1 10', 'b 3 30']);
  expect(seriesOf(points)).toEqual([
    {
      path: 'b',
      points: [
        { value: 1, atMs: 10_000 },
        { value: 2, atMs: 20_000 },
        { value: 3, atMs: 30_000 },
      ],
    },
    { path: 'a.0.x', points: [{ value: 1, atMs: 10_000 }] },
  ]);
});

test('a path is split into service, node and name', () => {
  const cases: readonly (readonly [string, string | undefined, number | undefined, string])[] = [
    ['postgresql.0.system.cpu0.user', 'postgresql', 0, 'system.cpu0.user'],
    [
      'a9s-pg.12.parachute.disk.ephemeral.used_percent',
      'a9s-pg',
      12,
      'parachute.disk.ephemeral.used_percent',
    ],
    ['mysql-8.0.2.0.system.cpu0.user', 'mysql-8.0.2', 0, 'system.cpu0.user'],
    ['mysql-8.0.2.1.parachute.activated', 'mysql-8.0.2', 1, 'parachute.activated'],
    ['pg.v2.1.system.load.load1', 'pg.v2', 1, 'system.load.load1'],
    ['system.cpu0.user', undefined, undefined, 'system.cpu0.user'],
    ['pg.0', undefined, undefined, 'pg.0'],
    ['.0.x', undefined, undefined, '.0.x'],
  ];
  for (const [path, service, index, name] of cases) {
    expect(describePath(path)).toEqual({ service, index, name });
  }
});

test('the parachute of each disk of each node is read from its latest values', () => {
  const points = readMetrics([
    'pg.0.parachute.disk.persistent.used_percent 70 200',
    'pg.0.parachute.disk.persistent.used_percent 50 100',
    'pg.0.parachute.disk.persistent.used_threshold 80 100',
    'pg.0.parachute.disk.persistent.activated 0 100',
    'pg.0.parachute.disk.persistent.total 1e9 300',
    'pg.0.parachute.disk.ephemeral.activated 1 100',
    'pg.1.parachute.disk.persistent.used_percent 91.5 100',
    'pg.1.parachute.activated 1 100',
    'pg.0.system.disk.persistent.used 5 100',
  ]);
  expect(parachuteDisks(points)).toEqual([
    {
      service: 'pg',
      index: 0,
      disk: 'persistent',
      usedPercent: 70,
      usedThreshold: 80,
      activated: false,
      atMs: 200_000,
    },
    {
      service: 'pg',
      index: 0,
      disk: 'ephemeral',
      usedPercent: undefined,
      usedThreshold: undefined,
      activated: true,
      atMs: 100_000,
    },
    {
      service: 'pg',
      index: 1,
      disk: 'persistent',
      usedPercent: 91.5,
      usedThreshold: undefined,
      activated: undefined,
      atMs: 100_000,
    },
  ]);
  expect(parachuteDisks([])).toEqual([]);
});
