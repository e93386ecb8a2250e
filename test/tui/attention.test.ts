import { expect, test } from 'vitest';
import { copyTo, createAttention, notified, titled } from '../../src/tui/attention.ts';
import type { RunView } from '../../src/view/run-view.ts';
import { VIEWS } from './fake-views.ts';

const BELL = '\u0007';
const asIs = (text: string) => text;
const { question: _, ...QUIET } = VIEWS.choice;
const ASKING: RunView = VIEWS.choice;
const OVER: RunView = { ...QUIET, outcome: VIEWS.outcome.outcome };
const PAUSED: RunView = { ...QUIET, paused: true };

/** What is written while these are looked at, `away` milliseconds after the last key. */
function written(away: number, views: readonly RunView[], isLoud = true): string[] {
  const bytes: string[] = [];
  let now = 0;
  const attention = createAttention({ write: (text) => bytes.push(text), monotonic: () => now, isLoud });
  attention.typed();
  now = away;
  for (const view of views) attention.look('run', view, asIs);
  return bytes;
}
const rings = (bytes: readonly string[]) => bytes.filter((one) => one.startsWith(BELL)).length;

test.each([
  ['a question begins to wait', [QUIET, ASKING], 1],
  ['a question continues to wait', [QUIET, ASKING, ASKING, { ...ASKING, elapsed: 99 }], 1],
  ['a run ends', [QUIET, OVER, OVER], 1],
  ['a run waits for credentials', [QUIET, PAUSED], 1],
  ['a question is asked again later', [ASKING, QUIET, ASKING], 2],
  ['a run continues', [QUIET, QUIET], 0],
])('the bell rings as expected when %s', (_name, views, times) => {
  expect(rings(written(60_000, views))).toBe(times);
});

test('the bell does not ring while a person types', () => {
  expect(rings(written(1_000, [QUIET, ASKING]))).toBe(0);
});

test('the bell does not ring where it is turned off, and the window is still named', () => {
  const bytes = written(60_000, [QUIET, ASKING], false);
  expect(rings(bytes)).toBe(0);
  expect(bytes).toEqual([expect.stringContaining('running'), expect.stringContaining('waits for you')]);
});

test('the window is named when the name changes, and when another program has named it', () => {
  const bytes: string[] = [];
  const attention = createAttention({ write: (text) => bytes.push(text), monotonic: () => 0, isLoud: true });
  attention.look('runs', undefined, asIs);
  attention.look('runs', undefined, asIs);
  expect(bytes).toEqual(['\u001b]2;lifeboat: runs\u0007']);
  attention.forget();
  attention.look('runs', undefined, asIs);
  expect(bytes).toHaveLength(2);
});

test.each([titled, notified])('a text neither ends nor begins a sequence', (sequence) => {
  const bytes = sequence('a\u0007\u001b]52;c;AAAA\u0007\u009c\nb');
  expect(bytes.slice(4, -1)).not.toMatch(/\p{Cc}/u);
});

test('a text goes to the clipboard whole or not at all', () => {
  const written: string[] = [];
  const write = (bytes: string) => void written.push(bytes);
  expect(copyTo(write, 'orders', 'the name')).toBe('copied the name');
  expect(copyTo(write, 'x'.repeat(60_000), 'the text')).toContain('not copied');
  expect(written).toEqual(['\u001b]52;c;b3JkZXJz\u0007']);
});
