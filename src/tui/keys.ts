import type { Key } from 'ink';

/** One key press: its name for the keymap and, if it types something, its text. */
export type Stroke =
  | {
      readonly kind: 'key';
      readonly key: string;
      readonly text?: string;
      /**
       * For Alt with a key: the key alone. Terminals send Escape for Alt, so it may as well be Escape and the
       * key, pressed so quickly that both are read at once.
       */
      readonly afterEscape?: Stroke;
    }
  /** Several characters at once: always text, never a command. `of`: the one key that was held down. */
  | { readonly kind: 'chunk'; readonly text: string; readonly of?: string };

/** Names a key that Ink reports; undefined for keys without a use here. */
export function keyOf(input: string, key: Key): Stroke | undefined {
  // In this mode, which another program may have left on, a terminal also reports releases.
  if (key.eventType === 'release') return undefined;
  if (!key.meta) return aloneOf(input, key);
  const alone = aloneOf(input, { ...key, meta: false });
  if (alone?.kind !== 'key') return alone;
  const [wordMove] = /(?<=^|^ctrl\+)(?:left|right)$/u.exec(alone.key) ?? [];
  const name = wordMove === undefined ? `meta+${alone.key}` : `ctrl+${wordMove}`;
  return { kind: 'key', key: name, afterEscape: alone };
}

/**
 * The key that was pressed, and the one after it. Unless the screen uses the Alt key, it is Escape and the
 * key: without that Escape, the key would answer the question that Escape was to leave.
 */
export function pressedOn(
  screen: { keys(): readonly { readonly keys: readonly string[] }[] },
  stroke: Stroke | undefined,
): readonly [first: Stroke | undefined, after?: Stroke] {
  if (stroke?.kind !== 'key' || stroke.afterEscape === undefined) return [stroke];
  const { key, afterEscape } = stroke;
  if (screen.keys().some(({ keys }) => keys.includes(key))) return [{ kind: 'key', key }];
  return [{ kind: 'key', key: 'escape' }, afterEscape];
}

function aloneOf(input: string, key: Key): Stroke | undefined {
  const name = NAMED.find(([flag]) => key[flag])?.[1];
  const isWordMove = key.ctrl && (name === 'left' || name === 'right');
  if (name !== undefined) return { kind: 'key', key: isWordMove ? `ctrl+${name}` : name };
  if (input === '' || key.super || key.hyper) return undefined;
  if (key.ctrl) return { kind: 'key', key: `ctrl+${input}` };
  const characters = new Set(input);
  if (characters.size > 1) return { kind: 'chunk', text: input };
  const [character = ''] = characters;
  if (character !== input) return { kind: 'chunk', text: input, of: UNSPLIT[character] ?? character };
  // An unnamed function key or control code is not text.
  if (/\p{Cc}/u.test(input)) return undefined;
  return { kind: 'key', key: input, text: input };
}

/** Control characters that Ink does not split from others. */
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
