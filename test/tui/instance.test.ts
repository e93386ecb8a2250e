import { describe, expect, test } from 'vitest';
import { instanceScreen } from '../../src/tui/screens/instance/instance.ts';
import { errandWords } from '../../src/view/app/app-port.ts';
import type { BackupList } from '../../src/view/app/backup-list.ts';
import type { Fact, InstanceDetail } from '../../src/view/app/sources.ts';
import {
  ASCII,
  ago,
  fact,
  factsOf,
  failedPart,
  fleetOf,
  LOOK,
  NOW,
  opened,
  part,
  press,
  SIZE,
  SIZES,
  statusOf,
  unaskedOf,
} from './fake-fleet.ts';

const DETAIL: InstanceDetail = {
  name: 'orders',
  groups: [
    { title: 'overview', rows: part([['name', 'orders'] as const, ['id', 'guid-of-orders'] as const]) },
    { title: 'objectives', rows: part([['RTO', '30 min'] as const]) },
    { title: 'backup configuration', rows: failedPart('no answer within 20 s') },
    { title: 'point in time', rows: { state: 'missing' } },
  ],
  metrics: part({
    disks: [{ text: 'postgresql.0.persistent: 41 % used', isOpen: false }],
    series: [
      { path: 'postgresql.0.load', values: [1, 2, 3, 8], at: ago(0) },
      { path: 'postgresql.0.memory', values: [5, 5], at: ago(0) },
    ],
  }),
  restores: part([
    { id: 4, backupId: 7, status: 'done', triggeredAt: ago(3), finishedAt: ago(2) },
    { id: 2, backupId: 6, status: 'failed', triggeredAt: ago(9) },
  ]),
};

const BACKUPS: BackupList = {
  rows: [
    { id: 9, backupId: 'guid-9', status: 'done', triggeredAt: ago(2), ageSeconds: 7200, size: 900, keys: [] },
    {
      ...{ id: 7, status: 'done', triggeredAt: ago(10), ageSeconds: 36_000, provenAt: ago(9) },
      keys: [{ fingerprint: 'aaaaaaaaaaaa', isHeld: false }],
    },
  ],
  window: { earliest: ago(48), latest: ago(0) },
};

function instance(given: { instance?: Fact<InstanceDetail>; backups?: Fact<BackupList> } = {}) {
  return opened(
    instanceScreen({ name: 'instance', instance: 'orders' }),
    factsOf({
      fleet: fact(fleetOf([statusOf('orders')])),
      instance: fact(DETAIL),
      backups: fact(BACKUPS),
      ...given,
    }),
  );
}

describe('the screen of an instance', () => {
  test('requests the instance as long as it is shown, and waits for what has not answered', () => {
    const waiting = fleetOf([unaskedOf('orders')], { answered: 0, answeredAt: new Map() });
    const open = instanceScreen({ name: 'instance', instance: 'orders' });
    const { screen, at } = opened(open, factsOf({ fleet: fact(waiting, true), instance: fact(DETAIL) }));
    expect(screen.needs()).toContainEqual({ source: 'fleet', of: null });
    const text = at({ columns: 80, rows: 50 }).join('\n');
    expect(text).toContain('waiting for its answers');
    expect(text).not.toContain('was not asked');
  });

  test('shows the age of an answer from an earlier visit', () => {
    const old = new Date(NOW.getTime() - 6 * 60_000);
    const value = BACKUPS;
    const backups = {
      part: { state: 'known', at: old, value },
      isAsking: true,
      last: { at: old, value },
    } as const;
    const { screen, at } = instance({ backups });
    press(screen, '2');
    expect(at(SIZE)[1]).toContain('as of 6m ago');
    expect(instance().at(SIZE)[1]).not.toContain('as of');
  });

  test('says whether it could be recovered, what it reports about itself, and what did not answer', () => {
    const text = instance().at({ columns: 80, rows: 50 }).join('\n');
    expect(text).toContain('✓ READY: it was never restored or rehearsed');
    expect(text).toMatch(/id +guid-of-orders/u);
    expect(text).toContain('could not be read: no answer within 20 s');
    expect(text).toContain('the interface of this instance does not report it');
  });

  test('says above the lists which rows could not be read, and how many more there are', () => {
    const unread = [1, 2, 3, 4].map((id) => `backup ${id} in the list cannot be read`);
    const { screen, at } = instance({
      backups: fact({ ...BACKUPS, unread }),
      instance: fact({ ...DETAIL, unreadRestores: ['restore 5 in the list cannot be read'] }),
    });
    press(screen, '2');
    for (const text of [...unread.slice(0, 2), 'and 2 more']) expect(at(SIZE).join('\n')).toContain(text);
    press(screen, '3');
    expect(at(SIZE).join('\n')).toContain('restore 5 in the list cannot be read');
  });

  test('lists backups with age, proof and key, and the range above them', () => {
    const { screen, at } = instance();
    press(screen, '2');
    const text = at(SIZE).join('\n');
    expect(text).toContain('point in time: 2026-03-08 12:00:00 to 2026-03-10 12:00:00 UTC');
    expect(text).toMatch(/9 +done +2h +2026-03-10 10:00:00 +900 B +no/u);
    expect(text).toMatch(/7 +done +10h .* 2026-03-10 03:00 +MISSING aaaa/u);
  });

  test('restores, verifies and downloads the backup under the cursor; a restore begins with it chosen', () => {
    const { screen, at, effects } = instance();
    press(screen, 'r', '2');
    expect(effects).toEqual([]);
    at(SIZE);
    press(screen, 'down', 'r', 'v', 'd');
    expect(effects).toEqual([
      {
        type: 'open',
        screen: { name: 'start', situation: 'older-state', instance: 'orders', backup: '7' },
      },
      { type: 'errand', errand: { do: 'verify', instance: 'orders', id: 7 } },
      { type: 'errand', errand: { do: 'download', instance: 'orders', id: 7 } },
    ]);
  });

  test('says of a verification, before and while it runs, that it records no proof', () => {
    const { screen, at } = instance();
    at(SIZE);
    press(screen, '2');
    const key = screen.keys().find(({ shown }) => shown === 'v');
    expect(key?.description).toContain('no proof goes on record');
    const { meanwhile } = errandWords({ do: 'verify', instance: 'orders', id: 7 });
    expect(meanwhile).toContain('no proof of it goes on record');
  });

  test('lists restores and metrics, with a chart of the one under the cursor', () => {
    const { screen, at } = instance();
    press(screen, '3');
    expect(at(SIZE).join('\n')).toMatch(/4 +7 +done/u);
    press(screen, '4');
    const text = at(SIZE).join('\n');
    expect(text).toMatch(/postgresql\.0\.load +8 +▁▂▃█/u);
    expect(text).toContain('from 1 to 8, 4 points, the newest 2026-03-10 12:00:00 UTC');
  });

  test('goes through its sections with Tab, and back with the left arrow', () => {
    const { screen } = instance();
    const seen = ['tab', 'tab', 'tab', 'tab', 'left'].map((key) => {
      press(screen, key);
      return screen.title();
    });
    expect(seen).toEqual(['backups', 'restores', 'metrics', 'overview', 'metrics']);
  });

  test('copies the id of the instance, and that of the row under the cursor', () => {
    const { screen, effects, at } = instance();
    at(SIZE);
    press(screen, 'y', '2', 'y', 'down', 'y', '3', 'y', '4', 'y');
    expect(effects.map((effect) => effect.type === 'copy' && effect.text)).toEqual([
      'guid-of-orders',
      'guid-9',
      '7',
      '4',
      'postgresql.0.load',
    ]);
  });

  test('starts a run and opens the journal for this instance', () => {
    const { screen, effects } = instance();
    press(screen, 's', 'e');
    expect(effects).toEqual([
      { type: 'open', screen: { name: 'start', instance: 'orders' } },
      { type: 'open', screen: { name: 'journal', stream: 'instance/orders' } },
    ]);
  });

  test('filters a list', () => {
    const { screen, at } = instance();
    press(screen, '4', '/', 'm', 'e', 'm');
    const text = at(SIZE).join('\n');
    expect(text).toContain('postgresql.0.memory');
    expect(text).not.toContain('postgresql.0.load');
  });

  test('scrolls to the end of the overview, and back', () => {
    const { screen, at } = instance();
    expect(at(SIZE).join('\n')).toMatch(/\d+ more: PgDn/u);
    press(screen, 'pagedown', 'pagedown', 'pagedown');
    expect(at(SIZE).join('\n')).toContain('the interface of this instance does not report it');
    press(screen, 'pageup', 'pageup', 'pageup');
    expect(at(SIZE).join('\n')).toContain('── evaluation ──');
  });

  test('says why it could not be reached', () => {
    const failed: Fact<InstanceDetail> = {
      part: failedPart('the token is refused') as never,
      isAsking: false,
    };
    const { at } = instance({ instance: failed });
    expect(at(SIZE).join('\n')).toContain('! it could not be asked: the token is refused');
  });

  test.each(SIZES)('fills $columns x $rows exactly in every section', (size) => {
    const wild: InstanceDetail = {
      ...DETAIL,
      groups: [
        { title: '復元', rows: part([['\u202egnol'.repeat(30), '\u001b[2Jabc'.repeat(60)] as const]) },
      ],
      metrics: part({
        disks: [{ text: '復元'.repeat(80), isOpen: true }],
        series: [{ path: '復元.'.repeat(50), values: [Number.NaN, 1e308, -1e308], at: ago(0) }],
      }),
    };
    for (const look of [LOOK, ASCII])
      for (const detail of [DETAIL, wild])
        for (const key of ['1', '2', '3', '4']) {
          const { screen, at } = instance({ instance: fact(detail) });
          press(screen, key);
          expect(at(size, look).join('')).not.toMatch(/[\u001b\u202e]/u);
        }
  });
});
