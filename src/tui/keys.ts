import type { Key } from 'ink';

/** One stroke on the keyboard: a name for the keymap and, where it types something, its text. */
export type Stroke =
  | { readonly kind: 'key'; readonly key: string; readonly text?: string }
  /**
   * Several characters at once. It is text, whatever it contains, and never a command. `of` names the key
   * where all of them are one: it was held down, and came late.
   */
  | { readonly kind: 'chunk'; readonly text: string; readonly of?: string };

/** Names what Ink reports. Nothing for keys this UI has no use for. */
export function keyOf(input: string, key: Key): Stroke | undefined {
  const name = NAMED.find(([flag]) => key[flag])?.[1];
  const isWordMove = (key.ctrl || key.meta) && (name === 'left' || name === 'right');
  if (name === 'backspace' && key.meta) return { kind: 'key', key: 'meta+backspace' };
  if (name !== undefined) return { kind: 'key', key: isWordMove ? `ctrl+${name}` : name };
  if (key.meta && /^[a-z]$/u.test(input)) return { kind: 'key', key: `meta+${input}` };
  if (input === '' || key.meta || key.super || key.hyper) return undefined;
  if (key.ctrl) return { kind: 'key', key: `ctrl+${input}` };
  const characters = new Set(input);
  if (characters.size > 1) return { kind: 'chunk', text: input };
  const [character = ''] = characters;
  if (character !== input) return { kind: 'chunk', text: input, of: UNSPLIT[character] ?? character };
  // A function key or another control code that has no name here is not text.
  if (/\p{Cc}/u.test(input)) return undefined;
  return { kind: 'key', key: input, text: input };
}

/** The control characters that Ink leaves in one piece with others. */
const UNSPLIT: Readonly<Record<string, string>> = { '\r': 'enter', '\t': 'tab' };

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
  ['delete', 'delete'],
] as const satisfies readonly (readonly [keyof Key, string])[];
