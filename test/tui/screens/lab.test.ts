import { describe, expect, test } from 'vitest';
import type { Around } from '../../../src/tui/live-screen.ts';
import { boardScreen } from '../../../src/tui/screens/board/board.ts';
import { labScreen } from '../../../src/tui/screens/lab/lab.ts';
import { paletteScreen } from '../../../src/tui/screens/palette/palette.ts';
import { askingWords, type LabChange, type LabFacts, spanWords } from '../../../src/view/app/lab-facts.ts';
import type { Home, HomeLab } from '../../../src/view/app/sources.ts';
import { ASCII, fact, factsOf, failedPart, NOW, opened, press, SIZE, SIZES } from '../fake-fleet.ts';

const HOSTILE = 'ev\u001b[31mil\u202e \u0007注文'.padEnd(400, 'x');

const LAB: LabFacts = {
  place: '127.0.0.1:4000',
  about: 'PostgreSQL 18.4, revision 62',
  playing: 'storm',
  scenarios: [
    { name: 'calm', summary: 'Nothing goes wrong: learn the steps.' },
    { name: 'storm', summary: 'One thing at a time, and nothing twice.' },
  ],
  faults: ['POST /backups of orders: drop (when after), once', 'any call: refuse, always'],
  instances: [
    { name: 'orders', state: 'running', backups: 3 },
    { name: 'orders-dr', state: 'lost', backups: 0 },
    { name: 'old', state: 'deleted', backups: undefined },
  ],
  clock: { now: '2026-04-09T12:00:00Z', rate: 60, skewSeconds: -420, aheadSeconds: 30 * 86_400 + 3600 },
  routerSeconds: 900,
  updateBlocking: false,
  calls: [
    { at: '2026-04-09T11:59:00Z', instance: 'orders', endpoint: 'POST /backups', detail: 'id 4' },
    { at: '2026-04-09T11:58:00Z', instance: 'orders', endpoint: 'PATCH /backups-config', detail: 'days 9' },
  ],
  callCount: 2,
};

function homeWith(lab: HomeLab | undefined): Home {
  const instances = ['orders', 'orders-dr'].map((name) => ({
    ...{ name, role: 'source', isRehearsal: true, revision: '62', place: '127.0.0.1:4000' },
  })) as Home['instances'];
  return { instances, operator: 'robin', folder: '/home', config: '/lifeboat.yaml', store: '/home', lab };
}

const HERE: HomeLab = { place: '127.0.0.1:4000', elsewhere: [] };

function known(given: Partial<LabFacts> = {}, home: Home = homeWith(HERE)) {
  return factsOf({ home: fact(home), lab: fact({ ...LAB, ...given }) });
}

function sitDown(facts: Around['facts'] = known()) {
  const { screen, effects, at } = opened(labScreen(), facts);
  at(SIZE);
  return {
    screen,
    effects,
    text: () => at(SIZE).join('\n'),
    press: (...keys: readonly string[]) => press(screen, ...keys),
  };
}

const did = (effects: readonly unknown[]) =>
  effects.filter((effect) => (effect as { type: string }).type === 'lab');

describe('the screen of a lab', () => {
  test('copies the name of the instance with y, as every other screen does', () => {
    const { press, effects } = sitDown();
    press('y');
    expect(effects).toEqual([{ type: 'copy', text: 'orders', what: 'the name of orders' }]);
  });

  test('says that it is a lab, and shows its settings, faults and instances', () => {
    const text = sitDown().text();
    expect(text).toMatch(/^LAB +a simulator on this machine: nothing on this screen reaches a service/mu);
    expect(text).toContain('storm: One thing at a time');
    expect(text).toContain('2026-04-09 12:00:00 UTC, 60 times as fast as real time');
    expect(text).toMatch(/30 d 1 h ahead\s+of real time,\s+7 min slow/u);
    expect(text).toMatch(/ends a request after 15 min; maintenance updates cannot be forbidden/u);
    expect(text).toMatch(
      /faults +POST \/backups of orders: drop \(when after\), once\s+any call: refuse, always/u,
    );
    expect(text).toMatch(/orders +running +3/u);
    expect(text).toMatch(/orders-dr +LOST +0/u);
    expect(text).toMatch(/old +DELETED +-/u);
    expect(text).toMatch(/2 changes .*newest first/u);
    expect(text).toMatch(/11:59:00 +orders +POST \/backups +id 4/u);
    expect(text.indexOf('11:59:00')).toBeLessThan(text.indexOf('11:58:00'));
  });

  test.each<[what: string, keys: readonly string[], change: LabChange]>([
    ['takes the instance under the cursor away', ['l'], { do: 'lose', instance: 'orders' }],
    ['brings a lost one back', ['down', 'b'], { do: 'bring-back', instance: 'orders-dr' }],
    ['ends all faults', ['x'], { do: 'stop-faults' }],
    ['expires the tokens', ['t'], { do: 'expire-tokens' }],
    ['plays a scenario of the list', ['p', 'down', 'enter'], { do: 'play', scenario: 'storm' }],
    [
      'plays a scenario that was found by the filter',
      ['p', '/', ...'storm', 'enter', 'enter'],
      { do: 'play', scenario: 'storm' },
    ],
    [
      'moves the clock by the typed duration',
      ['a', '3', '0', 'x', 'backspace', 'd', 'enter'],
      { do: 'advance', by: '30d' },
    ],
    [
      'deletes an instance after the second answer was chosen',
      ['D', 'down', 'enter'],
      { do: 'delete', instance: 'orders' },
    ],
  ])('%s, and says so until the lab has answered', (_, keys, change) => {
    const { press: type, effects, screen } = sitDown();
    type(...keys);
    expect(effects).toEqual([
      { type: 'say', text: askingWords(change) },
      { type: 'lab', change },
    ]);
    expect(screen.title()).toBe('lab');
  });

  test.each<[what: string, keys: readonly string[]]>([
    ['keeps an instance by the first answer', ['D', 'enter']],
    ['keeps an instance by Escape', ['D', 'down', 'escape']],
    ['keeps an instance when the cursor goes back to the first answer', ['D', 'down', 'up', 'enter']],
    ['plays nothing when the list was left', ['p', 'escape']],
    ['plays nothing where no scenario matches', ['p', '/', 'z', 'z', 'enter', 'enter']],
    ['does not move the clock with an empty field', ['a', 'enter']],
    ['does not move the clock when the field was left', ['a', '9', 'd', 'escape']],
    ['does not bring back an instance that is not lost', ['b']],
    ['does not lose an instance twice', ['down', 'l']],
    ['does not lose an instance that is deleted', ['G', 'l', 'b', 'D']],
  ])('%s', (_, keys) => {
    const { press: type, effects } = sitDown();
    type(...keys);
    expect(did(effects)).toEqual([]);
  });

  test('a held Enter changes at most one thing', () => {
    for (const first of [[], ['p'], ['D'], ['a'], ['l']]) {
      const { press: type, effects } = sitDown();
      type(...first, ...Array.from({ length: 30 }, () => 'enter'));
      expect(did(effects).length, first.join(' ')).toBeLessThanOrEqual(
        first[0] === 'p' || first[0] === 'l' ? 1 : 0,
      );
    }
  });

  test('the list of scenarios shows in full what the one under the cursor teaches', () => {
    const summary = `Learn ${'to look before you leap '.repeat(6)}twice.`;
    const { press: type, text } = sitDown(known({ scenarios: [{ name: 'one', summary }] }));
    type('p');
    expect(text().replaceAll(/\s+/gu, ' ')).toContain(summary);
  });

  test('names the instances of the config that are not part of the lab', () => {
    const home = homeWith({ ...HERE, elsewhere: ['billing'] });
    expect(sitDown(known({}, home)).text()).toContain('not in this lab, and out of its reach: billing');
  });

  test('looks only at an instance that the config names', () => {
    const { press: type, effects } = sitDown();
    type('enter', 'G', 'enter');
    expect(effects).toEqual([
      { type: 'open', screen: { name: 'instance', instance: 'orders' } },
      { type: 'say', text: 'the config does not name old' },
    ]);
  });
});

describe('without a lab that answers', () => {
  const failed = { part: failedPart('no lab answers at 127.0.0.1:4000: it may have ended'), isAsking: false };
  const EVERY = ['p', 'x', 'l', 'b', 'a', 't', 'D', 'enter'];

  test('a config that names none requests nothing, changes nothing, and says how to get one', () => {
    const { screen, press: type, effects, text } = sitDown(known({}, homeWith(undefined)));
    expect(screen.needs().map(({ source }) => source)).toEqual(['home']);
    type(...EVERY);
    expect(did(effects)).toEqual([]);
    expect(effects).toHaveLength(EVERY.length);
    expect(text()).toContain('the config names no lab');
    expect(text()).not.toContain('running');
  });

  test('one that has ended is reported, with the age of what is shown, and no key acts on it', () => {
    const last = { at: new Date(NOW.getTime() - 120_000), value: LAB };
    const {
      press: type,
      effects,
      text,
    } = sitDown(factsOf({ home: fact(homeWith(HERE)), lab: { ...failed, last } }));
    expect(text()).toContain('no lab answers at 127.0.0.1:4000: it may have ended');
    expect(text()).toMatch(/what it said 2\s+min ago/u);
    type(...EVERY);
    expect(did(effects)).toEqual([]);
  });

  test('one that has not answered yet is awaited', () => {
    const { press: type, effects, screen } = sitDown(factsOf({ home: fact(homeWith(HERE)) }));
    expect(screen.needs()).toContainEqual({ source: 'lab', of: null });
    type(...EVERY);
    expect(did(effects)).toEqual([]);
  });
});

describe('every size', () => {
  const many = <Row>(make: (at: number) => Row) => Array.from({ length: 60 }, (_, at) => make(at));
  const crowded = known(
    {
      about: HOSTILE,
      playing: HOSTILE,
      scenarios: many((at) => ({ name: `${at}${HOSTILE}`, summary: HOSTILE })),
      faults: many(() => HOSTILE),
      instances: many((at) => ({ name: `${at}${HOSTILE}`, state: HOSTILE, backups: at })),
      clock: { now: HOSTILE, rate: 1e300, skewSeconds: 1e300, aheadSeconds: 1e300 },
      calls: many(() => ({ at: HOSTILE, instance: HOSTILE, endpoint: HOSTILE, detail: HOSTILE })),
    },
    homeWith({ place: HOSTILE, elsewhere: many(() => HOSTILE) }),
  );
  const empty = known({ instances: [], scenarios: [], faults: [], calls: [], callCount: 0 });

  test.each(SIZES)('is filled exactly at $columns x $rows, hostile texts included', (size) => {
    for (const facts of [known(), crowded, empty, factsOf({}), known({}, homeWith(undefined))])
      for (const keys of [[], ['p'], ['p', '/'], ['D'], ['D', 'down'], ['a', 'x'], ['/', 'o'], ['G']]) {
        const { screen, at } = opened(labScreen(), facts);
        at(size);
        press(screen, ...keys);
        for (const rows of [at(size), at(size, ASCII)]) expect(rows.join('')).not.toMatch(/\p{Cc}|\u202e/u);
      }
  });

  test('the instances are visible at the smallest size, and both answers before one is deleted', () => {
    const [smallest = SIZE] = SIZES;
    const failed = { part: failedPart(HOSTILE), isAsking: false, last: { at: NOW, value: LAB } };
    const { screen, at } = opened(labScreen(), factsOf({ home: fact(homeWith(HERE)), lab: fact(LAB) }));
    at(smallest);
    press(screen, 'D');
    expect(at(smallest).join('\n')).toMatch(/❯ keep orders +\n +delete orders/u);
    expect(
      opened(labScreen(), factsOf({ home: fact(homeWith(HERE)), lab: failed }))
        .at(smallest)
        .join(''),
    ).toContain('✗ ev');
    expect(opened(labScreen(), known()).at(smallest).join('\n')).toMatch(/orders +running/u);
  });
});

describe('the ways to the screen of the lab', () => {
  test.each([
    ['where the config names a lab', HERE, ['L']],
    ['and nowhere else', undefined, []],
  ])('L on the board leads there %s', (_, lab, keys) => {
    const { screen, effects, at } = opened(boardScreen(), factsOf({ home: fact(homeWith(lab)) }));
    at(SIZE);
    expect(screen.keys().flatMap((key) => (key.label === 'lab' ? key.keys : []))).toEqual(keys);
    press(screen, 'L');
    expect(effects).toEqual(lab === undefined ? [] : [{ type: 'open', screen: { name: 'lab' } }]);
  });

  test('the palette leads there, or says why it does not', () => {
    const beneath = { keys: [], isDriving: true, hidesNames: false };
    const choose = (lab: HomeLab | undefined) => {
      const { screen, effects, at } = opened(paletteScreen(beneath), factsOf({ home: fact(homeWith(lab)) }));
      at(SIZE);
      press(screen, ...'break things', 'enter');
      return effects;
    };
    expect(choose(HERE)).toEqual([{ type: 'instead', effect: { type: 'open', screen: { name: 'lab' } } }]);
    expect(choose(undefined)).toMatchObject([{ type: 'say', text: /^the config names no lab/u }]);
  });
});

test.each([
  [0, '0 s'],
  [90, '1 min 30 s'],
  [-420, '7 min'],
  [86_400, '1 d'],
  [30 * 86_400 + 3600, '30 d 1 h'],
])('%d seconds are %s', (seconds, words) => {
  expect(spanWords(seconds)).toBe(words);
});
