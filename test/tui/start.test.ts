import { describe, expect, test } from 'vitest';
import { glyphsFor } from '../../src/tui/glyphs.ts';
import { lineWidth } from '../../src/tui/line.ts';
import type { AppEffect, LiveScreen } from '../../src/tui/live-screen.ts';
import { startScreen } from '../../src/tui/screens/start/start.ts';
import type { InstanceStatus } from '../../src/view/fleet/status-schema.ts';
import {
  BACKUPS,
  backup,
  DRY_RUN,
  factsOf,
  fleetRows,
  gone,
  instance,
  type Known,
  known,
  NOW,
  status,
} from './start-facts.ts';

const LOOK = { glyphs: glyphsFor({ LC_ALL: 'C.UTF-8' }), colour: false };
const SIZE = { columns: 80, rows: 24 };

/** A person who reads each page before the next key, unless told otherwise. */
function sitDown(answers: Known = known(), request: { situation?: string; instance?: string } = {}) {
  const effects: AppEffect[] = [];
  let nowMs = NOW.getTime();
  const screen: LiveScreen = startScreen({ name: 'start', ...request })({
    facts: factsOf(answers),
    now: () => new Date(nowMs),
    onEffect: (effect) => effects.push(effect),
  });
  const text = (size = SIZE) => rowsOf(screen, size).join('\n');
  const press = (key: string, afterMs = 1_000) => {
    nowMs += afterMs;
    screen.press({ kind: 'key', key, ...(key.length === 1 ? { text: key } : {}) }, SIZE);
  };
  const type = (words: string) => {
    nowMs += 1_000;
    screen.paste(words, SIZE);
  };
  const choose = (words: string) => {
    press('/');
    type(words);
    press('enter');
    press('enter');
  };
  return { screen, effects, text, press, type, choose };
}

function rowsOf(screen: LiveScreen, size: typeof SIZE): string[] {
  return screen.layOut(size, LOOK).bands.flatMap(({ height, panes }) =>
    Array.from({ length: height }, (_, row) =>
      panes
        .map(({ lines, width }) => {
          const said = (lines[row] ?? []).map((piece) => piece.text).join('');
          return said + ' '.repeat(Math.max(0, width - lineWidth(lines[row] ?? [])));
        })
        .join(''),
    ),
  );
}

test('rows were deleted: from the situation to the request for the run, a minute before the mistake', () => {
  const { effects, text, press, type, choose } = sitDown();
  choose('rows were deleted');
  expect(text()).toContain('when did it happen?');
  type('02:32');
  expect(text()).toContain('2026-03-01 02:32:00 UTC');
  press('enter');
  expect(text()).toContain('2026-03-01 02:31:00 UTC');
  expect(text()).toContain('1 min before it happened');
  press('left');
  press('enter');
  expect(text()).toContain('lost         what was written after 2026-03-01 02:30:00 UTC');
  press('enter');
  expect(effects).toEqual([
    {
      type: 'start',
      wish: {
        runbook: 'restore-point-in-time',
        instance: 'orders',
        to: '2026-03-01T02:30:00.000Z',
        incident: '2026-03-01T02:32:00.000Z',
      },
    },
  ]);
});

test('the region is gone: the target is offered, the run takes the newest backup', () => {
  const fleet = { instances: fleetRows(gone('orders'), status('orders-dr')), answered: 2, drills: '' };
  const { effects, text, press, choose } = sitDown(known({ fleet: () => fleet }));
  choose('region');
  expect(text()).toMatch(/❯ orders-dr/u);
  press('enter');
  press('enter');
  expect(text()).toContain('when did it happen?');
  press('enter');
  expect(text()).toContain('this run changes orders-dr with the data of orders, as a rehearsal');
  press('enter');
  expect(effects).toEqual([
    {
      type: 'start',
      wish: { runbook: 'disaster-recovery', perform: true, instance: 'orders', target: 'orders-dr' },
    },
  ]);
});

describe('a plan', () => {
  const plan = {
    plan: 'west',
    verdict: 'unknown',
    reason: 'orders: it could not be asked',
    checks: [],
    instances: ['orders', 'orders-dr'].map((instance) => ({
      instance,
      verdict: 'unknown' as const,
      reason: '',
    })),
  } as const;
  const beside = (...instances: readonly InstanceStatus[]) =>
    known({ fleet: () => ({ instances: fleetRows(...instances), answered: 2, drills: '', plans: [plan] }) });

  test('is offered before everything else where its region is gone, and runs for real', () => {
    const { effects, text, press } = sitDown(beside(gone('orders'), gone('orders-dr')));
    expect(text()).toMatch(/❯ 2 of 2 instances of plan west are gone/u);
    press('enter');
    expect(effects).toEqual([
      { type: 'start-plan', wish: { plan: 'west', rehearsal: false, sourceDown: true } },
    ]);
  });

  test('is not offered for a lost region where it recovers nothing into a target', () => {
    const checks = [{ id: 'targets', state: 'not-applicable', code: 'target.none', reason: 'none' }] as const;
    const fleet = {
      instances: fleetRows(gone('orders'), gone('orders-dr')),
      answered: 2,
      drills: '',
      plans: [{ ...plan, checks }],
    };
    const { text } = sitDown(known({ fleet: () => fleet }));
    expect(text()).not.toContain('plan west are gone');
    expect(text()).toMatch(/❯ the instance or its region is gone/u);
  });

  const only = (more: object, runs: readonly object[] = []) =>
    sitDown(
      known({
        fleet: () => ({
          instances: fleetRows(status('orders')),
          answered: 1,
          drills: '',
          plans: [{ ...plan, ...more }],
        }),
        runs: () => runs as never,
      }),
    );

  test('can be run where it recovers nothing into a target, even with no instance', () => {
    for (const instances of [plan.instances, []]) {
      const checks = [{ id: 'targets', state: 'not-applicable', code: 'target.none', reason: 'none' }];
      const { effects, choose } = only({ instances, checks });
      choose('run plan');
      expect(effects).toEqual([
        { type: 'start-plan', wish: { plan: 'west', rehearsal: false, sourceDown: false } },
      ]);
    }
  });

  test('that has begun is continued, and is not begun again', () => {
    const run = {
      runId: '01PLAN',
      runbook: 'plan',
      instance: 'plan.west',
      status: 'open',
      where: 'it waits',
    };
    const { effects, text, press } = only({}, [run]);
    expect(text()).toMatch(/❯ go on with plan west/u);
    press('enter');
    expect(effects).toEqual([{ type: 'resume', runId: '01PLAN' }]);
  });

  test('whose file cannot be read cannot be chosen', () => {
    const checks = [{ id: 'file', state: 'red', code: 'plan.unread', reason: 'no' }];
    const { effects, choose } = only({ instances: [], checks, reason: 'line 3 is wrong' });
    choose('plan west');
    expect(effects.filter(({ type }) => type === 'start-plan')).toEqual([]);
  });

  test('can only be rehearsed where its instances answer', () => {
    const { effects, text, choose } = sitDown(beside(status('orders'), status('orders-dr')));
    expect(text()).not.toMatch(/❯ .*plan west/u);
    choose('rehearse plan');
    expect(effects).toEqual([
      { type: 'start-plan', wish: { plan: 'west', rehearsal: true, sourceDown: false } },
    ]);
  });
});

test('a certain backup is given by the id that its own instance or other instances know', () => {
  const inPlace = sitDown();
  inPlace.choose('older backup');
  inPlace.choose('guid-6');
  inPlace.press('enter');
  inPlace.press('enter');
  expect(inPlace.effects).toMatchObject([{ type: 'start', wish: { backup: '6' } }]);
  const elsewhere = sitDown();
  elsewhere.choose('region');
  elsewhere.press('enter');
  elsewhere.choose('guid-6');
  expect(elsewhere.text()).toContain('✓ backup 6 ▸ since when');
  elsewhere.press('enter');
  elsewhere.press('enter');
  expect(elsewhere.effects).toMatchObject([{ type: 'start', wish: { backup: 'guid-6' } }]);
});

test('Esc goes one step back each time, and leaves at the first step', () => {
  const { effects, text, press, choose } = sitDown();
  choose('region');
  press('escape');
  expect(text()).toContain('which instance is it about?');
  press('escape');
  expect(text()).toContain('what has happened');
  expect(effects).toEqual([]);
  press('escape');
  expect(effects).toEqual([{ type: 'back' }]);
});

test('an Enter that is held down answers at most one question', () => {
  const { effects, text, press } = sitDown(known(), { instance: 'orders' });
  press('enter', 500);
  for (let at = 0; at < 100; at += 1) press('enter', 33);
  expect(text()).toContain('what has happened');
  press('down');
  press('enter', 1_000);
  press('enter', 500);
  for (let at = 0; at < 100; at += 1) press('enter', 33);
  expect(text()).toContain('when did it happen?');
  expect(effects).toEqual([]);
});

test('a choice that cannot work says why and what would work, and Enter does not take it', () => {
  const fleet = { instances: fleetRows(gone('orders'), status('orders-dr')), answered: 2, drills: '' };
  const { effects, text, press } = sitDown(known({ fleet: () => fleet }), { instance: 'orders' });
  press('down');
  expect(text().split('it does not answer: the router gave 502')).toHaveLength(2);
  expect(text()).toContain('✗ orders: it does not answer: the router gave 502');
  expect(text().match(/cannot work: see above/gu)).toHaveLength(9);
  expect(text()).toContain('if orders is gone, choose "the instance or its region is gone"');
  press('enter');
  expect(effects).toEqual([{ type: 'say', text: 'orders: it does not answer: the router gave 502' }]);
  expect(text()).toContain('what has happened');
});

test('an instance that its address does not know is not silently taken for lost', () => {
  const no = { state: 'failed', at: NOW, code: 'service.not-found', why: 'unknown here (404)' } as const;
  const fleet = {
    instances: fleetRows(status('orders', { overview: no, backups: no }), status('orders-dr')),
    answered: 2,
  };
  const { text, press } = sitDown(known({ fleet: () => ({ ...fleet, drills: '' }) }), { instance: 'orders' });
  expect(text()).toContain('❯ the instance or its region is gone');
  expect(text().replaceAll(/\s+/gu, ' ')).toContain(
    '! it is NOT FOUND, not DOWN: its address answers: compare its url in the config with `cf service NAME` before you call it lost',
  );
  press('down');
  expect(text()).toContain('✗ orders: it is NOT FOUND: unknown here (404)');
  expect(text().replaceAll(/\s+/gu, ' ')).toContain(
    'if orders is gone, choose "the instance or its region is gone"',
  );
});

test('an obstacle that the dry run found is shown before Enter counts', () => {
  const inTheWay = { text: 'the disk is full', hints: ['make room first'] };
  const { effects, text, press, choose } = sitDown(known({ dryRun: () => ({ ...DRY_RUN, inTheWay }) }));
  choose('encryption key');
  expect(text()).toContain('✗ in the way: the disk is full');
  expect(text()).toContain('hint: make room first');
  press('enter');
  expect(effects).toEqual([]);
  expect(text()).toContain('Enter starts the run anyway');
  expect(text().split('the disk is full')).toHaveLength(2);
  expect(text()).toContain('hint: make room first');
  press('enter', 100);
  expect(effects).toEqual([]);
  press('enter');
  expect(effects).toMatchObject([{ type: 'start', wish: { runbook: 'rotate-key' } }]);
});

test('no step label in the header is broken or cut from its sign, however narrow the screen', () => {
  const { screen, press, choose } = sitDown();
  choose('region');
  press('enter');
  press('enter');
  press('enter');
  for (let columns = 40; columns <= 100; columns += 1) {
    const rows = rowsOf(screen, { columns, rows: 24 }).slice(1, 3);
    expect(rows.join('|')).toContain('▸ check');
    for (const row of rows) expect(row.trimEnd()).not.toMatch(/[▸·✓]$/u);
  }
});

test('a target that was asked and has no backup of its own shows none, without a warning', () => {
  const target = { ...status('orders-dr'), newestBackup: undefined, provenBackup: undefined };
  const fleet = { instances: fleetRows(status('orders'), target), answered: 2, drills: '' };
  const { text, choose } = sitDown(known({ fleet: () => fleet }));
  choose('region');
  expect(text()).toMatch(/orders-dr .* none +none/u);
  expect(text()).not.toContain('! none of its backups was proven');
});

test('a run that was started from here is not started again by another Enter', () => {
  const { effects, text, press, choose } = sitDown();
  choose('encryption key');
  press('enter');
  press('enter');
  expect(effects).toHaveLength(1);
  expect(text()).toContain('you have already started this run from here');
});

test('a dry run that has not answered need not be awaited, but the first Enter says so', () => {
  const { effects, text, press, choose } = sitDown(known({ dryRun: () => undefined }));
  choose('encryption key');
  press('enter');
  expect(text()).toContain('the dry run has not ended yet');
  press('enter');
  expect(effects).toMatchObject([{ type: 'start' }]);
});

test('a time that cannot be reached is not taken, and the range is shown', () => {
  const { text, press, type, choose } = sitDown(
    known({ moment: () => ({ time: '2026-01-01T00:00:00.000Z' }) }),
  );
  choose('rows were deleted');
  press('enter');
  type('new year');
  expect(text()).toContain('cannot be reached: from 2026-02-28 00:00:00 UTC');
  press('enter');
  expect(text()).toContain('which moment do you want');
});

test('the picker does not start at the present when the time of the mistake is unknown', () => {
  const { text, press, choose } = sitDown();
  choose('rows were deleted');
  press('enter');
  expect(text()).toContain('2026-03-01 01:59:50 UTC');
});

test('Enter alone takes no point in time while the time of the incident is unknown', () => {
  const { text, press, choose } = sitDown();
  choose('rows were deleted');
  press('enter');
  expect(text()).toContain('no moment is chosen yet');
  press('enter');
  expect(text()).toContain('which moment do you want');
  press('left');
  expect(text()).not.toContain('no moment is chosen yet');
  press('enter');
  expect(text()).not.toContain('which moment do you want');
});

test('the copied command begins the same run', () => {
  const { effects, press, choose } = sitDown();
  choose('region');
  press('enter');
  press('enter');
  press('enter');
  press('y');
  expect(effects).toEqual([
    {
      type: 'copy',
      text: 'lifeboat run disaster-recovery --instance orders --target orders-dr --perform',
      what: 'the command',
    },
  ]);
});

const HOSTILE = '\u001b[2J\u202e注文データ\n';
const PAGES: readonly (readonly [string, (at: ReturnType<typeof sitDown>) => void])[] = [
  ['situation', () => undefined],
  [
    'instance',
    (at) => {
      at.choose('region');
      at.press('escape');
    },
  ],
  ['target', (at) => at.choose('region')],
  ['backup', (at) => at.choose('older backup')],
  ['incident', (at) => at.choose('rows were')],
  [
    'moment',
    (at) => {
      at.choose('rows were');
      at.press('enter');
    },
  ],
  ['check', (at) => at.choose('encryption key')],
];
const SIZES = [
  { columns: 40, rows: 12 },
  { columns: 80, rows: 24 },
  { columns: 100, rows: 30 },
  { columns: 160, rows: 50 },
];

test('a backup that was never opened names the key that its dates suggest as uncertain', () => {
  const at = sitDown(known());
  at.choose('older backup');
  const text = at.text({ columns: 160, rows: 50 });
  expect(text).toMatch(/ proven\s+aaaaaaaaaaaa held/u);
  expect(text).toMatch(/ no\s+perhaps bbbbbbbbbbbb NOT HELD/u);
});

/** What is known from the config alone, with a name that no screen likes. */
const ONLY_CONFIG: Known = {
  home: () => ({
    instances: [instance('orders'), instance(HOSTILE, { role: 'target' })],
    operator: '',
    folder: '',
    config: '',
    store: '',
  }),
  fleet: () => ({ instances: fleetRows(status('orders'), gone(HOSTILE)), answered: 1, drills: '' }),
};

test.for(PAGES)('the page %s fills every size exactly, whatever names and answers hold', ([, go]) => {
  const answers = known({
    ...ONLY_CONFIG,
    backups: () => ({
      ...BACKUPS,
      rows: Array.from({ length: 90 }, (_, id) => backup(id, { status: HOSTILE })),
    }),
  });
  const at = sitDown(answers);
  go(at);
  fillsEverySize(at);
});

test.for(PAGES)('the page %s fills every size exactly before the service answers', ([, go]) => {
  const at = sitDown(ONLY_CONFIG);
  go(at);
  fillsEverySize(at);
});

function fillsEverySize(at: ReturnType<typeof sitDown>): void {
  for (const size of SIZES) {
    const layout = at.screen.layOut(size, LOOK);
    expect(layout.bands.reduce((sum, { height }) => sum + height, 0)).toBe(size.rows);
    for (const { panes } of layout.bands) {
      expect(panes.reduce((sum, { width }) => sum + width, 0)).toBe(size.columns);
      for (const { lines, width } of panes)
        for (const line of lines) expect(lineWidth(line)).toBeLessThanOrEqual(width);
    }
    expect(at.text(size)).not.toMatch(/[\u001b\u202e]/u);
  }
}
