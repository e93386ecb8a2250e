import { expect, test } from 'vitest';
import { band, type Layout } from '../../src/tui/bands.ts';
import { span } from '../../src/tui/span.ts';
import { framesOf } from '../../src/tui/take-screen.tsx';

const SIZE = { columns: 20, rows: 2 };
const PAGE = { height: 1, last: 0 };

/** What stands on the screen, one band a row, and how often it was laid out. */
function drawn(first: readonly string[]) {
  let rows = first;
  let version = 0;
  let laidOut = 0;
  return {
    version: () => version,
    layOut: (): Layout => {
      laidOut += 1;
      return { page: PAGE, bands: rows.map((row) => band([[span(row)]], SIZE.columns)) };
    },
    show: (...next: string[]) => {
      rows = next;
      version += 1;
    },
    laidOut: () => laidOut,
  };
}

test('an unchanged frame is the same object as the last one', () => {
  const screen = drawn(['a', 'b']);
  const frameIn = framesOf(screen);
  const first = frameIn(SIZE);
  expect(frameIn(SIZE)).toBe(first);
  expect(screen.laidOut()).toBe(1);
  screen.show('a', 'b');
  expect(frameIn(SIZE)).toBe(first);
  expect(screen.laidOut()).toBe(2);
});

test('an unchanged part is the same object, and a changed part is a new one', () => {
  const screen = drawn(['a', 'b']);
  const frameIn = framesOf(screen);
  const [above, below] = frameIn(SIZE);
  screen.show('a', 'c');
  const after = frameIn(SIZE);
  expect(after[0]).toBe(above);
  expect(after[1]).not.toBe(below);
  expect(after[1]?.panes[0]?.lines).toEqual([[span('c')]]);
});

test('another style, another height and one row less are noticed', () => {
  let layout: Layout = { page: PAGE, bands: [band([[span('a')], [span('b')]], 20)] };
  let version = 0;
  const frameIn = framesOf({ version: () => version, layOut: () => layout });
  const look = (bands: Layout['bands']) => {
    const before = frameIn(SIZE);
    layout = { page: PAGE, bands };
    version += 1;
    expect(frameIn(SIZE)).not.toBe(before);
    expect(frameIn(SIZE)).toEqual(bands);
  };
  look([band([[span('a', 'status.bad')], [span('b')]], 20)]);
  look([band([[span('a', 'status.bad')], [span('b')]], 20, 5)]);
  look([band([[span('a', 'status.bad')]], 20, 5)]);
  look([band([[span('a', 'status.bad')]], 19, 5)]);
  look([]);
});

test('another size is laid out again', () => {
  const screen = drawn(['a']);
  const frameIn = framesOf(screen);
  frameIn(SIZE);
  frameIn({ ...SIZE, columns: 40 });
  expect(screen.laidOut()).toBe(2);
});
