import type { Key } from 'ink';

/** One stroke on the keyboard: a name for the keymap and, where it types something, its text. */
export type Stroke =
  | { readonly kind: 'key'; readonly key: string; readonly text?: string }
  /** Several characters at once. It is text, whatever it contains, and never a command. */
  | { readonly kind: 'chunk'; readonly text: string };

/** Names what Ink reports. Nothing for keys this UI has no use for. */
export function keyOf(input: string, key: Key): Stroke | undefined {
  const name = NAMED.find(([flag]) => key[flag])?.[1];
  if (name !== undefined) return { kind: 'key', key: name };
  if (input === '' || key.meta || key.super || key.hyper) return undefined;
  if (key.ctrl) return { kind: 'key', key: `ctrl+${input}` };
  if (Array.from(input).length > 1) return { kind: 'chunk', text: input };
  // A function key or another control code that has no name here is no text.
  if (/\p{Cc}/u.test(input)) return undefined;
  return { kind: 'key', key: input, text: input };
}

const NAMED = [
  ['upArrow', 'up'],
  ['downArrow', 'down'],
  ['leftArrow', 'left'],
  ['rightArrow', 'right'],
  ['home', 'home'],
  ['end', 'end'],
  ['pageUp', 'pageup'],
  ['pageDown', 'pagedown'],
  ['return', 'enter'],
  ['escape', 'escape'],
  ['tab', 'tab'],
  ['backspace', 'backspace'],
] as const satisfies readonly (readonly [keyof Key, string])[];
