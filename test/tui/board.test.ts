import { describe, expect, test } from 'vitest';
import type { AppEffect } from '../../src/tui/live-screen.ts';
import { boardScreen } from '../../src/tui/screens/board/board.ts';
import { rowOf } from '../../src/view/app/fleet-row.ts';
import type { Fact, Fleet, RunRow } from '../../src/view/app/sources.ts';
import type { InstanceStatus } from '../../src/view/fleet/status-schema.ts';
import type { WorkersStatus } from '../../src/view/fleet/workers-schema.ts';
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
  shownRows,
  statusOf,
  unaskedOf,
} from './fake-fleet.ts';

const CARDLESS = statusOf('billing', { record: failedPart('the disk is gone'), held: failedPart('locked') });
const LATE = statusOf('orders', { objectives: { rpo: 1_800_000 } });
const FINE = statusOf('stock');
const LATE_STOCK = statusOf('stock', { objectives: { rpo: 1_800_000 } });

const RUN: RunRow = {
  ...{ runId: '01RUN', runbook: 'restore-backup', version: '3', instance: 'orders', mode: 'LIVE' },
  ...{ startedAt: ago(2), lastAt: ago(1), status: 'open', where: 'choose the backup', proven: false },
  followUps: 0,
};

function board(fleet: Fact<Fleet>, runs: readonly RunRow[] = []) {
  return opened(boardScreen(), factsOf({ fleet, runs: fact(runs) }));
}

const names = (rows: readonly string[]) =>
  rows.flatMap(
    (row) => /^[❯ ][• ](\w+)\s+(?:PROVEN|READY|NOT READY|UNKNOWN|empty|asking)\b/u.exec(row)?.[1] ?? [],
  );

describe('the board', () => {
  test.each([80, 100, 160])('has the same columns at %i whatever its rows say', (columns) => {
    const headOf = (...instances: Parameters<typeof fleetOf>[0]) =>
      board(fact(fleetOf(instances)))
        .at({ ...SIZE, columns })
        .find((row) => row.trim().startsWith('instance'))
        ?.replace(/│.*/u, '')
        .trim()
        .split(/ +/u);
    expect(headOf(LATE)).toEqual(headOf(FINE));
    expect(headOf(CARDLESS)).toEqual(headOf(FINE));
    const no = { ...failedPart('no'), code: 'service.not-found' } as const;
    expect(headOf(statusOf('stock', { overview: no, backups: no }))).toEqual(headOf(FINE));
    expect(headOf(FINE)).toEqual(expect.arrayContaining(['backup', 'proven', 'RPO', 'key', 'asked']));
  });

  test('puts the instances in danger first, and says why for the first one', () => {
    const rows = board(fact(fleetOf([FINE, CARDLESS, LATE]))).at(SIZE);
    expect(names(rows)).toEqual(['orders', 'billing', 'stock']);
    expect(rows[1]).toContain('✗ 1 of 3 instances NOT READY, 1 UNKNOWN');
    const told = rows.join(' ').replaceAll(/\s+/gu, ' ');
    expect(told).toContain('✗ NOT READY: backup 9 is 2 h old, and the RPO is 30 min');
    expect(rows.join('\n')).toMatch(/orders +NOT READY +yes +2h LATE +10h LATE +30m +proven +0s/u);
  });

  test('describes the row of the cursor', () => {
    const { screen, at } = board(fact(fleetOf([FINE, CARDLESS, LATE])));
    at(SIZE);
    press(screen, 'down');
    expect(at(SIZE).join('\n')).toContain('the journal could not be read: the disk is gone');
    press(screen, 'down');
    const told = at(SIZE).join(' ').replaceAll(/\s+/gu, ' ');
    expect(told).toContain(
      '✓ READY: it was never restored or rehearsed; a recovery would take backup 9, 2h old, key aaaaaaaaaaaa fits',
    );
    expect(at(SIZE).join('\n')).toContain('41 % used, parachute opens at 80 % (postgresql.0.persistent)');
  });

  test('shows the newest backup of a lost instance as last seen, and what could be used to recover it', () => {
    const no = failedPart('no answer');
    const record = cardless();
    const lost = statusOf('orders', { overview: no, backups: no, window: no, record });
    const rows = board(fact(fleetOf([lost]))).at({ columns: 100, rows: 30 });
    expect(rows.join('\n')).toMatch(/orders +NOT READY +DOWN +10h seen +10h LATE/u);
    expect(rows[1]).toContain('✗ 1 of 1 instance DOWN');
    const told = rows.join(' ').replaceAll(/\s+/gu, ' ');
    expect(told).toContain('newest backup 10h old as last seen 10h ago (backup 7)');
    expect(told).toContain('backup 7 could be recovered by its id guid-7');
  });

  test('shows an instance that is being asked as asking, and neither as good nor as bad', () => {
    const waiting = fleetOf([unaskedOf('orders'), FINE, unaskedOf('spare', 'target')], {
      answered: 1,
      answeredAt: new Map([['stock', NOW]]),
    });
    const rows = board(fact(waiting, true)).at(SIZE);
    expect(rows.join('\n')).toMatch(/orders +asking/u);
    expect(rows.join('\n')).toMatch(/spare +asking/u);
    expect(rows[1]?.trim()).toBe('asked 1 of 3 instances');
  });

  test('shows the last recorded evaluation until an instance answers, and never as good', () => {
    const lastEvaluation = { verdict: 'ready', at: new Date(NOW.getTime() - 3 * 3_600_000).toISOString() };
    const waiting = fleetOf([{ ...unaskedOf('orders'), lastEvaluation } as InstanceStatus], {
      answered: 0,
      answeredAt: new Map(),
    });
    const { screen, at } = board(fact(waiting, true));
    press(screen, 'down');
    const text = at({ columns: 100, rows: 30 }).join(' ').replaceAll(/\s+/gu, ' ');
    expect(text).toMatch(/orders was READY asking/u);
    expect(text).toContain('waiting for its answers; it was READY 3h ago');
    const lines = screen.layOut(SIZE, LOOK).bands.flatMap(({ panes }) => panes.flatMap((one) => one.lines));
    const said = lines.flat().filter((one) => one.text.includes('READY'));
    expect(said.length).toBeGreaterThan(0);
    expect(said.filter(({ token }) => token === 'status.ok')).toEqual([]);
  });

  test('gives no overall verdict before all instances have answered', () => {
    const lost = statusOf('orders', { overview: failedPart('no'), backups: failedPart('no') });
    const half = { answered: 2, answeredAt: new Map([...'ab'].map((name) => [name, NOW])) };
    const some = [{ ...lost, name: 'a' }, { ...FINE, name: 'b' }, unaskedOf('c')];
    const first = (fleet: Fact<Fleet>, size = SIZE) => board(fleet).at(size)[1]?.trim();
    expect(first(fact(fleetOf(some, half), true))).toBe('asked 2 of 3 instances, so far 1 DOWN');
    expect(first(fact(fleetOf(some, half), true), { columns: 40, rows: 12 })).toBe(
      'asked 2 of 3 instances, so far 1 DOWN',
    );
    expect(first(fact(fleetOf([...some.slice(0, 2), FINE]), true))).toBe('✗ 1 of 3 instances DOWN');
  });

  test('distinguishes an unknown address from a lost instance, and says what to check first', () => {
    const no = { ...failedPart('the service does not know this (404)'), code: 'service.not-found' } as const;
    const unknown = statusOf('orders', { overview: no, backups: no, window: no });
    const lost = statusOf('billing', { overview: failedPart('no'), backups: failedPart('no') });
    const { screen, at } = board(fact(fleetOf([unknown, lost])));
    const size = { columns: 100, rows: 30 };
    expect(at(size)[1]).toContain('✗ 1 of 2 instances DOWN, 1 NOT FOUND');
    expect(names(at(size))).toEqual(['billing', 'orders']);
    expect(at(size).join('\n')).toMatch(/orders +NOT READY +NOT FOUND/u);
    press(screen, '/', 'n', 'o', 't', ' ', 'f', 'o', 'u', 'n', 'd', 'enter');
    const told = at(size).join(' ').replaceAll(/\s+/gu, ' ');
    expect(told).toContain('1 of 2');
    expect(told).toContain('✗ NOT FOUND (never seen from here): the service does not know this (404)');
    expect(told).toContain('compare its url in the config with `cf service NAME` before you call it lost');
    expect(told).not.toContain('DOWN (');
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

  test('shows what matters most at forty columns too', () => {
    const rows = board(fact(fleetOf([FINE, CARDLESS]))).at({ columns: 40, rows: 12 });
    expect(rows[1]).toContain('! 1 of 2 instances UNKNOWN');
    expect(rows.join('\n')).toMatch(/billing +UNKNOWN/u);
  });

  test('sums up the workers of a team, and names live and gone ones where there is room', () => {
    const worker = (pid: number, state: 'live' | 'gone' | 'stopped') => ({
      ...{ host: 'west-1', pid, label: '', since: ago(120), seen: ago(5), state, holds: 3 },
    });
    const workers: WorkersStatus = {
      items: [worker(11, 'live'), worker(12, 'stopped'), worker(13, 'gone')],
      queue: { ready: 0, later: 2, active: 0 },
      runs: { left: 4, unheld: [] },
      troubles: [],
    };
    const fleet = fact(fleetOf([FINE]));
    const at = (size: typeof SIZE, known: WorkersStatus | undefined) => {
      const facts = factsOf({ fleet, runs: fact([RUN]), workers: fact(known) });
      return opened(boardScreen(), facts).at(size);
    };
    const rows = at({ columns: 160, rows: 50 }, workers);
    const first = rows.findIndex((row) => row.includes('workers: 1 live, 1 gone; queue: nothing is ready'));
    expect(rows.slice(first + 1, first + 3).map((row) => row.trim())).toEqual([
      'west-1 13: gone, last seen 5h ago, holds 3 runs',
      'west-1 11: live for 5d, holds 3 runs',
    ]);
    expect(rows.join('\n')).not.toContain('west-1 12');
    const low = at({ columns: 80, rows: 24 }, workers);
    expect(low.some((row) => row.includes('1 live, 1 gone'))).toBe(true);
    expect(low.some((row) => row.includes('restore-backup orders'))).toBe(true);
    for (const none of [undefined, { items: [], troubles: [] }])
      expect(at({ columns: 160, rows: 50 }, none).join('\n')).not.toContain('workers');
  });

  test('names the open runs, who began them and how long they have been open', () => {
    const fleet = fleetOf([FINE], { startedBy: new Map([['01RUN', 'mira']]) });
    const rows = board(fact(fleet), [RUN]).at({ columns: 120, rows: 24 });
    expect(rows.join('\n')).toContain(
      'LIVE restore-backup orders, open for 2h, started by mira: choose the backup',
    );
  });

  test('counts the plans that do not fit', () => {
    const plans = Array.from({ length: 9 }, (_, at) => ({
      ...{
        plan: `west-${at + 1}`,
        verdict: 'not-ready',
        reason: 'orders: it is down',
        instances: [],
        checks: [],
      },
    })) as Fleet['plans'];
    const rows = (open: readonly RunRow[]) => board(fact({ ...fleetOf([FINE]), plans }), open).at(SIZE);
    for (const open of [[], [RUN]]) {
      const shown = rows(open).filter((row) => row.includes('plan west-')).length;
      expect(rows(open).join('\n')).toMatch(
        new RegExp(`${9 - shown} (?:more )?plans?: .lifeboat plans evaluate. shows all`, 'u'),
      );
    }
    expect(rows([RUN]).join('\n')).toContain('restore-backup orders, open for');
    const plan = { ...RUN, runbook: 'plan', instance: 'plan.west' };
    expect(rows([plan]).join('\n')).toContain(' plan west, open for');
  });

  test('says what is wrong with the journal, and what is safe to do', () => {
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

  test('says why nothing is known', () => {
    const part = {
      ...failedPart('the config is gone'),
      hints: ['lifeboat init writes one'],
    } as Fact<Fleet>['part'];
    const rows = board({ part, isAsking: false }).at(SIZE).join('\n');
    expect(rows).toContain('the fleet could not be read: the config is gone');
    expect(rows).toContain('lifeboat init writes one');
  });

  test('says in the row of each instance why it could not be asked', () => {
    const failing = (name: string, code: string) =>
      statusOf(name, { backups: { state: 'failed', at: NOW, code, why: 'no' } });
    const rows = board(
      fact(
        fleetOf([
          failing('one', 'credentials.refused'),
          failing('two', 'service.timeout'),
          failing('three', 'x'),
        ]),
      ),
    ).at({ columns: 160, rows: 30 });
    const lastOf = (name: string) => rows.find((row) => row.slice(2).startsWith(`${name} `));
    expect(lastOf('one')).toContain('401 login');
    expect(lastOf('two')).toContain('silent');
    expect(lastOf('three')).toContain('failed');
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
      'zebra orders stock',
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

  describe('while answers arrive', () => {
    /** The board over facts and a clock that the test changes. */
    const moving = (first: Fact<Fleet>) => {
      const world = { fleet: first, now: NOW };
      const effects: AppEffect[] = [];
      const facts = {
        get: (source: string) =>
          source === 'fleet' ? world.fleet : { part: { state: 'unasked' }, isAsking: false },
      } as never;
      const screen = boardScreen()({ facts, now: () => world.now, onEffect: (one) => effects.push(one) });
      const shown = () => shownRows(screen, SIZE);
      const later = (seconds: number) => {
        world.now = new Date(world.now.getTime() + seconds * 1_000);
      };
      return { screen, effects, shown, world, later };
    };
    const open = (instance: string) => ({ type: 'open', screen: { name: 'instance', instance } });

    test('acts on the instance that was shown under the cursor, wherever its row is now', () => {
      const { screen, effects, shown, world } = moving(fact(fleetOf([FINE, statusOf('orders')])));
      expect(shown().join('\n')).toContain('❯ stock');
      world.fleet = fact(fleetOf([FINE, LATE]));
      press(screen, 'enter');
      expect(shown().join('\n')).toContain('❯ stock');
      expect(names(shown())[0]).toBe('orders');
      press(screen, 's');
      expect(effects).toEqual([
        open('stock'),
        { type: 'open', screen: { name: 'start', instance: 'stock' } },
      ]);
    });

    test('chooses no instance before all have answered once, and acts on none', () => {
      const asking = fleetOf([unaskedOf('stock'), unaskedOf('orders')], {
        answered: 0,
        answeredAt: new Map(),
      });
      const { screen, effects, shown, world } = moving(fact(asking, true));
      expect(shown().join('\n')).not.toContain('❯');
      press(screen, 'enter', 's');
      expect(effects).toEqual([
        { type: 'say', text: 'no instance is chosen: down chooses the first one' },
        { type: 'open', screen: { name: 'start' } },
      ]);
      world.fleet = fact(fleetOf([FINE, LATE]), true);
      world.now = new Date(NOW.getTime() + 60_000);
      expect(shown().join('\n')).toContain('❯ orders');
    });

    test('chooses one of those that a filter leaves once they have answered, even if others are silent', () => {
      const given = { answered: 1, answeredAt: new Map([['orders', NOW]]) };
      const some = [unaskedOf('stock'), LATE, unaskedOf('stock-dr')];
      const { screen, effects, shown } = moving(fact(fleetOf(some, given), true));
      press(screen, '/', 's', 't', 'o', 'enter');
      expect(shown().join('\n')).not.toContain('❯');
      press(screen, 'escape', '/', 'o', 'r', 'd', 'enter');
      expect(shown().join('\n')).toContain('❯ orders');
      press(screen, 'enter');
      expect(effects).toEqual([open('orders')]);
    });

    test('says beside the rows of a wide window that none is chosen yet', () => {
      const some = fleetOf([unaskedOf('stock')], { answered: 0, answeredAt: new Map() });
      const wide = board(fact(some, true)).at({ columns: 160, rows: 24 });
      expect(wide.join('\n')).toContain('│ no instance is chosen: down chooses');
    });

    test('lets a person choose before all have answered, and keeps that choice', () => {
      const asking = fleetOf([unaskedOf('stock'), unaskedOf('orders')], {
        answered: 0,
        answeredAt: new Map(),
      });
      const { screen, effects, shown, world } = moving(fact(asking, true));
      shown();
      press(screen, 'down');
      expect(shown().join('\n')).toContain('❯ stock');
      world.fleet = fact(fleetOf([FINE, LATE]));
      shown();
      press(screen, 'enter');
      expect(effects).toEqual([open('stock')]);
    });

    test('evaluates its answers again as time passes', () => {
      const orders = (now: Date) => [statusOf('orders', { objectives: { rpo: 2.01 * 3_600_000 } }, now)];
      const { shown, later } = moving(
        fact(fleetOf(orders(NOW), { instancesAt: (now) => orders(now).map((one) => rowOf(one)) })),
      );
      expect(shown().join('\n')).toMatch(/orders +READY +yes +2h +/u);
      later(60);
      expect(shown().join('\n')).toMatch(/orders +NOT READY +yes +2h LATE[\s\S]*newest backup 2h 1m LATE/u);
      expect(shown()[1]).toContain('1 of 1 instance NOT READY');
    });

    test('withdraws its verdict on an instance that does not answer, and says since when', () => {
      const asked = new Map([['orders', NOW]]);
      const { shown, later } = moving(fact(fleetOf([statusOf('orders'), FINE], { askedAt: asked }), true));
      later(4);
      expect(shown()[1]).toContain('✓ 2 instances: 2 READY');
      later(3);
      expect(shown()[1]).toContain('! 1 of 2 instances asked, and not answered');
      const text = shown().join('\n');
      expect(text).toMatch(/orders +was READY +\? +/u);
      expect(text).toContain('! asked 7s ago, not answered; its last answer is 7s old');
      expect(text).not.toContain('✓');
    });

    test('shows an answer that is ten minutes old as past, with its age', () => {
      const { shown, later } = moving(fact(fleetOf([statusOf('orders')])));
      later(600);
      expect(shown().join('\n')).toMatch(/orders +was READY +\?[\s\S]*! its last answer is 10m old/u);
    });

    test('claims neither LIVE nor a rehearsal before the config is read', () => {
      const { shown } = moving({ part: { state: 'unasked' }, isAsking: true });
      expect(shown().join('\n')).not.toMatch(/LIVE|REHEARSAL/u);
    });

    test('keeps the rows in place while keys are pressed, until a pause or a new sort', () => {
      const { screen, shown, world, later } = moving(fact(fleetOf([FINE, statusOf('orders')])));
      shown();
      press(screen, 'down');
      world.fleet = fact(fleetOf([FINE, LATE]));
      later(4);
      expect(names(shown())).toEqual(['stock', 'orders']);
      press(screen, 'up');
      later(4);
      expect(names(shown())).toEqual(['stock', 'orders']);
      later(1);
      expect(names(shown())).toEqual(['orders', 'stock']);
      press(screen, 'up');
      world.fleet = fact(fleetOf([statusOf('orders'), LATE_STOCK]));
      expect(names(shown())).toEqual(['orders', 'stock']);
      press(screen, 'S', 'S', 'S', 'S');
      expect(names(shown())).toEqual(['stock', 'orders']);
    });

    test('chooses no other instance when the chosen one no longer matches the filter', () => {
      const { screen, effects, shown, world } = moving(fact(fleetOf([LATE_STOCK, LATE])));
      press(screen, '/', 'l', 'a', 't', 'e', 'enter');
      expect(shown().join('\n')).toContain('❯ stock');
      world.fleet = fact(fleetOf([FINE, LATE]));
      expect(names(shown())).toEqual(['orders']);
      press(screen, 'enter');
      expect(effects).toEqual([{ type: 'say', text: 'no instance is chosen: down chooses the first one' }]);
    });
  });

  test('filters by name and answer', () => {
    const { screen, at } = board(fact(fleetOf([FINE, CARDLESS, LATE])));
    press(screen, '/', 'b', 'i', 'l', 'l');
    expect(names(at(SIZE))).toEqual(['billing']);
    press(screen, 'escape', '/', 'r', 'e', 'a', 'd', 'y');
    expect(names(at(SIZE))).toEqual(['orders', 'stock']);
    press(screen, 'escape', '/', 'l', 'a', 't', 'e');
    expect(names(at(SIZE))).toEqual(['orders']);
    press(screen, 'escape', '/', 'f', 'a', 'i', 'l', 'e', 'd');
    expect(names(at(SIZE))).toEqual(['billing']);
  });

  test('counts what the filter shows, marks all of it, and backs up what is marked', () => {
    const fleet = fleetOf([FINE, statusOf('orders'), statusOf('orders-dr')]);
    const { screen, at, effects } = board(fact(fleet));
    at(SIZE);
    press(screen, 'b', '/', 'o', 'r', 'd', 'enter');
    expect(at(SIZE).join('\n')).toMatch(/^\/ord.* 2 of 3$/mu);
    press(screen, 'a');
    expect(at(SIZE).join('\n')).toContain('2 marked');
    press(screen, 's', 'b');
    const marked = ['orders', 'orders-dr'];
    expect(effects).toEqual([
      { type: 'say', text: 'nothing is marked: Space marks a row, a all that are shown' },
      {
        type: 'say',
        text: 'a run changes one instance, and 2 are marked: b backs them up, c makes their cards, u unmarks them',
      },
      { type: 'open', screen: { name: 'each', what: 'backup', instances: marked } },
    ]);
    press(screen, 'c');
    expect(effects.at(-1)).toEqual({
      type: 'open',
      screen: { name: 'each', what: 'card', instances: marked },
    });
    press(screen, 'a');
    expect(at(SIZE).join('\n')).not.toContain('marked');
  });

  test('clears with Esc the filter and the marks, the newer one first, and says which', () => {
    const { screen, at, effects } = board(fact(fleetOf([FINE, statusOf('orders'), statusOf('orders-dr')])));
    const foot = () => at(SIZE).at(-1);
    at(SIZE);
    press(screen, ' ', '/', 'o', 'r', 'd', 'enter');
    expect(foot()).toContain('Esc all rows');
    press(screen, 'a');
    expect(foot()).toContain('Esc unmark 3');
    press(screen, 'escape');
    expect(at(SIZE).join('\n')).not.toContain('marked');
    expect(foot()).toContain('Esc all rows');
    press(screen, 'a', '/', 'e', 'enter', 'escape');
    expect(names(at(SIZE))).toContain('stock');
    expect(foot()).toContain('Esc unmark 2');
    press(screen, 'escape');
    expect(at(SIZE).join('\n')).not.toContain('marked');
    expect(foot()).not.toContain('Esc');
    expect(effects).toEqual([]);
  });

  test('filters by why an instance could not be asked', () => {
    const { screen, at } = board(fact(fleetOf([FINE, statusOf('orders', { backups: failedPart('late') })])));
    press(screen, '/', 's', 'i', 'l', 'e', 'n', 't');
    expect(at(SIZE).join('\n')).toMatch(/1 of 2$/mu);
  });

  test('starts on the instance of the cursor or on the marked one, and on none if several are marked', () => {
    const { screen, at, effects } = board(fact(fleetOf([FINE, CARDLESS, LATE])));
    at(SIZE);
    press(screen, 's', ' ', 's', ' ', 's');
    expect(effects).toEqual([
      { type: 'open', screen: { name: 'start', instance: 'orders' } },
      { type: 'open', screen: { name: 'start', instance: 'orders' } },
      {
        type: 'say',
        text: 'a run changes one instance, and 2 are marked: b backs them up, c makes their cards, u unmarks them',
      },
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
