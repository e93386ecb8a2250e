import { expect, test } from 'vitest';
import { band, tooSmall } from '../../src/tui/bands.ts';
import { glyphsFor } from '../../src/tui/glyphs.ts';
import { withRoomForSaid, withSaid } from '../../src/tui/parts/frame.ts';
import { eachScreen } from '../../src/tui/screens/each/each.ts';
import { span } from '../../src/tui/span.ts';
import { fact, factsOf, fleetOf, opened, press, SIZE, statusOf } from './fake-fleet.ts';
import { rowOf, troublesOf } from './walker-checks.ts';

const LOOK = { glyphs: glyphsFor({ LANG: 'C.UTF-8' }), colour: false };

test('a message takes the lowest row of the screen, and no other', () => {
  const size = { columns: 40, rows: 3 };
  const layout = {
    page: { height: 1, last: 0 },
    bands: [band([[span('header')]], 40), band([[span('body')]], 40), band([[span('footer')]], 40)],
  };
  const said = withSaid(layout, 'copied run 7', size, LOOK);
  expect(troublesOf(said, size)).toEqual([]);
  expect([0, 1, 2].map((row) => rowOf(said, row).trimEnd())).toEqual(['header', 'body', ' copied run 7']);
});

test('a message longer than a row is wrapped over the rows above', () => {
  const size = { columns: 40, rows: 12 };
  const rows = 'header body 3 4 5 6 7 8 9 10 11 footer'.split(' ').map((text) => band([[span(text)]], 40));
  const text = 'lifeboat was started for this run alone: leave it, then start it';
  const said = withSaid({ page: { height: 1, last: 0 }, bands: rows }, text, size, LOOK);
  expect(troublesOf(said, size)).toEqual([]);
  expect([0, 9, 10, 11].map((row) => rowOf(said, row).trimEnd())).toEqual([
    'header',
    '10',
    ' lifeboat was started for this run',
    ' alone: leave it, then start it',
  ]);
});

test('a window that is too small still says so above a message', () => {
  const size = { columns: 39, rows: 11 };
  const said = withSaid(tooSmall('lifeboat runs', size, LOOK), 'copied run 7', size, LOOK);
  expect(troublesOf(said, size)).toEqual([]);
  expect(rowOf(said, 1)).toBe('this window is too small');
  expect(rowOf(said, 10).trimEnd()).toBe(' copied run 7');
});

test('a list keeps the row of its cursor in sight above a message of several rows', () => {
  const instances = Array.from({ length: 60 }, (_, at) => `orders-${at}`);
  const facts = factsOf({ fleet: fact(fleetOf(instances.map((name) => statusOf(name)))) });
  const { screen, at } = opened(eachScreen({ name: 'each', what: 'backup', instances }), facts);
  at(SIZE);
  press(screen, 'G');
  const said = withRoomForSaid(
    (size) => screen.layOut(size, LOOK),
    'why it does nothing now '.repeat(9),
    SIZE,
    LOOK,
  );
  expect(troublesOf(said, SIZE)).toEqual([]);
  const rows = Array.from({ length: SIZE.rows }, (_, row) => rowOf(said, row));
  expect(rows.join('\n')).toContain('❯ orders-59');
  expect(rows.at(-1)).toContain('why it does nothing now');
  const small = { columns: 40, rows: 12 };
  const covered = withRoomForSaid((size) => screen.layOut(size, LOOK), 'why '.repeat(30), small, LOOK);
  expect(troublesOf(covered, small)).toEqual([]);
  expect(rowOf(covered, 0)).toContain('lifeboat');
});
