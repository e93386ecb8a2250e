import { describe, expect, test } from 'vitest';
import { boardScreen } from '../../src/tui/screens/board/board.ts';
import type { RunRow } from '../../src/view/app/run-row.ts';
import type { Fact, Fleet } from '../../src/view/app/sources.ts';
import {
  ASCII,
  ago,
  cardless,
  fact,
  factsOf,
  failedPart,
  fleetOf,
  LOOK,
  NOW,
  opened,
  press,
  SIZE,
  SIZES,
  statusOf,
  unaskedOf,
} from './fake-fleet.ts';

const CARDLESS = statusOf('billing', { record: failedPart('the disk is gone'), held: failedPart('locked') });
const LATE = statusOf('orders', { objectives: { rpo: 1_800_000 } });
const FINE = statusOf('stock');

const RUN: RunRow = {
  ...{ runId: '01RUN', runbook: 'restore-backup', version: '3', instance: 'orders', mode: 'LIVE' },
  ...{ startedAt: ago(2), lastAt: ago(1), status: 'open', where: 'choose the backup', proven: false },
  followUps: 0,
};

function board(fleet: Fact<Fleet>, runs: readonly RunRow[] = []) {
  return opened(boardScreen(), factsOf({ fleet, runs: fact(runs) }));
}

const names = (rows: readonly string[]) =>
  rows.flatMap((row) => /^[❯ ][• ](\w+)\s+(?:NO|yes|unknown|target|asking)\b/u.exec(row)?.[1] ?? []);

describe('the board', () => {
  test('puts the instances in danger first, and tells of the first one why', () => {
    const rows = board(fact(fleetOf([FINE, CARDLESS, LATE]))).at(SIZE);
    expect(names(rows)).toEqual(['orders', 'billing', 'stock']);
    expect(rows[1]).toContain('✗ 1 of 3 instances could not be recovered now, 1 unknown');
    expect(rows.join('\n')).toContain('✗ NO elsewhere: the newest backup is 2 h old, and the RPO is 30 min');
    expect(rows.join('\n')).toMatch(/orders +NO +2h LATE +10h LATE +30m +proven +10h/u);
  });

  test('tells of the row of the cursor', () => {
    const { screen, at } = board(fact(fleetOf([FINE, CARDLESS, LATE])));
    at(SIZE);
    press(screen, 'down');
    expect(at(SIZE).join('\n')).toContain('the journal could not be read: the disk is gone');
    press(screen, 'down');
    expect(at(SIZE).join('\n')).toContain('✓ it could be recovered now, in place and elsewhere');
    expect(at(SIZE).join('\n')).toContain('41 % used, parachute opens at 80 % (postgresql.0.persistent)');
  });

  test('shows the newest backup of a lost instance as last seen, and by what it could be recovered', () => {
    const no = failedPart('no answer');
    const record = cardless();
    const lost = statusOf('orders', { overview: no, backups: no, window: no, record });
    const rows = board(fact(fleetOf([lost]))).at({ columns: 100, rows: 30 });
    expect(rows.join('\n')).toMatch(/orders +unknown +10h seen +10h LATE/u);
    const told = rows.join(' ').replaceAll(/\s+/gu, ' ');
    expect(told).toContain('newest backup 10h old as last seen 10h ago (backup 7)');
    expect(told).toContain('backup 7 could be recovered by its id guid-7');
  });

  test('shows what is asked for as asked for, and neither as good nor as bad', () => {
    const waiting = fleetOf([unaskedOf('orders'), FINE, unaskedOf('spare', 'target')], {
      answered: 1,
      answeredAt: new Map([['stock', NOW]]),
    });
    const rows = board(fact(waiting, true)).at(SIZE);
    expect(rows.join('\n')).toContain('asked 1 of 3');
    expect(rows.join('\n')).toMatch(/orders +asking/u);
    expect(rows.join('\n')).toMatch(/spare +asking/u);
    expect(rows[1]).toContain('1 of 3 instances unknown');
  });

  test.each(SIZES)('fills $columns x $rows exactly, with and without Unicode', (size) => {
    const hostile = statusOf('orders', {
      overview: failedPart('\u001b[31mno\u0007'.padEnd(400, 'x')),
      backups: failedPart('إعادة الضبط 復元できません'.repeat(9)),
    });
    const many = Array.from({ length: 60 }, (_, at) => statusOf(`復元-${at}-${'long'.repeat(at % 12)}`));
    for (const look of [LOOK, ASCII])
      for (const instances of [[], [FINE], [hostile, LATE], many])
        for (const runs of [[], [RUN], Array.from({ length: 9 }, () => RUN)]) {
          const rows = board(fact(fleetOf(instances)), runs).at(size, look);
          expect(rows.join('')).not.toContain('\u001b');
        }
  });

  test('shows at least forty columns what matters most', () => {
    const rows = board(fact(fleetOf([FINE, LATE]))).at({ columns: 40, rows: 12 });
    expect(rows[1]).toContain('✗ 1 of 2 not recoverable');
    expect(rows.join('\n')).toMatch(/orders +NO/u);
  });

  test('names the open runs, who began them and for how long', () => {
    const fleet = fleetOf([FINE], { startedBy: new Map([['01RUN', 'mira']]) });
    const rows = board(fact(fleet), [RUN]).at({ columns: 120, rows: 24 });
    expect(rows.join('\n')).toContain(
      'LIVE restore-backup orders, open for 2h, started by mira: choose the backup',
    );
  });

  test('says what is wrong with the journal, and what is safe', () => {
    const troubles = [{ text: 'the journal was rolled back', hints: ['looking is safe', 'put it back'] }];
    const rows = board(fact(fleetOf([FINE], { troubles })))
      .at(SIZE)
      .join('\n');
    expect(rows).toContain('! the journal was rolled back');
    expect(rows).toContain('looking is safe');
  });

  test('says what is wrong with the journal in the smallest window too', () => {
    const troubles = [{ text: 'the journal was rolled back', hints: ['looking is safe', 'put it back'] }];
    const fleet = fact(fleetOf([FINE], { troubles }));
    expect(board(fleet, [RUN]).at({ columns: 40, rows: 12 }).join('\n')).toContain(
      '! the journal was rolled back',
    );
  });

  test('says why nothing is known at all', () => {
    const part = {
      ...failedPart('the config is gone'),
      hints: ['lifeboat init writes one'],
    } as Fact<Fleet>['part'];
    const rows = board({ part, isAsking: false }).at(SIZE).join('\n');
    expect(rows).toContain('the fleet could not be read: the config is gone');
    expect(rows).toContain('lifeboat init writes one');
  });

  test('sorts by danger, name, age of the newest backup and RPO in turn', () => {
    const old = statusOf('zebra', {
      backups: { state: 'known', at: NOW, value: { done: [{ id: 1, triggeredAt: ago(90) }] } },
      objectives: { rpo: 400 * 3_600_000 },
    });
    const { screen, at } = board(fact(fleetOf([FINE, old, LATE])));
    const orders = ['danger', 'name', 'newest backup', 'RPO'].map((sort) => {
      const rows = at(SIZE);
      expect(rows.join('\n')).toContain(`sorted by ${sort}`);
      press(screen, 'S');
      return names(rows);
    });
    expect(orders.map((order) => order.join(' '))).toEqual([
      'orders zebra stock',
      'orders stock zebra',
      'zebra stock orders',
      'orders stock zebra',
    ]);
    expect(at(SIZE).join('\n')).toContain('sorted by danger');
  });

  test('keeps the cursor on its instance when the order changes', () => {
    const { screen, at, effects } = board(fact(fleetOf([FINE, CARDLESS, LATE])));
    at(SIZE);
    press(screen, 'G', 'S', 'enter');
    expect(effects).toEqual([{ type: 'open', screen: { name: 'instance', instance: 'stock' } }]);
  });

  test('filters by name and answer', () => {
    const { screen, at } = board(fact(fleetOf([FINE, CARDLESS, LATE])));
    press(screen, '/', 'b', 'i', 'l', 'l');
    expect(names(at(SIZE))).toEqual(['billing']);
    press(screen, 'escape', '/', 'y', 'e', 's');
    expect(names(at(SIZE))).toEqual(['stock']);
  });

  test('starts on the instance of the cursor or on the one that is marked, and on none of several', () => {
    const { screen, at, effects } = board(fact(fleetOf([FINE, CARDLESS, LATE])));
    at(SIZE);
    press(screen, 's', ' ', 's', ' ', 's');
    expect(effects).toEqual([
      { type: 'open', screen: { name: 'start', instance: 'orders' } },
      { type: 'open', screen: { name: 'start', instance: 'orders' } },
      { type: 'say', text: 'a run changes one instance, and 2 are marked: press u to unmark them' },
    ]);
    press(screen, 'y', 'u', 'y');
    expect(effects.slice(3)).toEqual([
      { type: 'copy', text: 'orders\nbilling', what: '2 names' },
      { type: 'copy', text: 'stock', what: 'the name stock' },
    ]);
  });

  test.each([
    ['no run', [], { type: 'say', text: 'no run is open' }],
    ['the only one', [RUN], { type: 'resume', runId: '01RUN' }],
    [
      'one of another process',
      [{ ...RUN, heldBy: 'mira' }],
      { type: 'open', screen: { name: 'watch', runId: '01RUN' } },
    ],
    ['several', [RUN, { ...RUN, runId: '02RUN' }], { type: 'open', screen: { name: 'runs' } }],
    ['one that is closed', [{ ...RUN, status: 'closed' as const }], { type: 'say', text: 'no run is open' }],
  ])('o with %s', (_, runs, effect) => {
    const { screen, effects } = board(fact(fleetOf([FINE])), runs);
    press(screen, 'o');
    expect(effects).toEqual([effect]);
  });
});
