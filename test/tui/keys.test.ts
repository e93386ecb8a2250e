import type { Key } from 'ink';
import { expect, test } from 'vitest';
import { keyOf } from '../../src/tui/keys.ts';

const PLAIN = {} as Key;

test.each([
  ['\r\r', 'enter'],
  ['\t\t\t', 'tab'],
  ['yy', 'y'],
  ['\u{1F6DF}\u{1F6DF}', '\u{1F6DF}'],
])('one key that arrived several times together is named: %j', (text, of) => {
  expect(keyOf(text, PLAIN)).toEqual({ kind: 'chunk', text, of });
});

test('different keys that arrive together are a text without a name', () => {
  expect(keyOf('y\r', PLAIN)).toEqual({ kind: 'chunk', text: 'y\r' });
});

test('one character is a key, also one outside the basic plane', () => {
  expect(keyOf('y', PLAIN)).toEqual({ kind: 'key', key: 'y', text: 'y' });
  expect(keyOf('\u{1F6DF}', PLAIN)).toMatchObject({ kind: 'key', text: '\u{1F6DF}' });
});

test.each([
  ['b', PLAIN, 'meta+b', 'b'],
  ['Q', PLAIN, 'meta+Q', 'Q'],
  ['', { return: true } as Key, 'meta+enter', 'enter'],
  ['', { leftArrow: true } as Key, 'ctrl+left', 'left'],
  ['', { leftArrow: true, ctrl: true } as Key, 'ctrl+left', 'ctrl+left'],
  ['', { backspace: true } as Key, 'meta+backspace', 'backspace'],
  ['c', { ctrl: true } as Key, 'meta+ctrl+c', 'ctrl+c'],
])('a key with Alt may be Escape and the key: %j %j', (input, key, name, alone) => {
  expect(keyOf(input, { ...key, meta: true })).toMatchObject({
    kind: 'key',
    key: name,
    afterEscape: { kind: 'key', key: alone },
  });
});

test('a key release is not a key press, in a terminal that reports it', () => {
  expect(keyOf('y', { eventType: 'release' } as Key)).toBeUndefined();
  expect(keyOf('', { return: true, eventType: 'release' } as Key)).toBeUndefined();
  expect(keyOf('y', { eventType: 'press' } as Key)).toMatchObject({ key: 'y' });
});
