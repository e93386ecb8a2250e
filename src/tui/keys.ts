import type { Key } from 'ink';

/** One stroke on the keyboard: a name for the keymap and, where it types something, its text. */
export type Stroke =
  | {
      readonly kind: 'key';
      readonly key: string;
      readonly text?: string;
      /**
       * Of a key with Alt: the key alone. A terminal sends Escape for Alt, so it may just as well be Escape
       * and this key, pressed so quickly that both are read in one piece.
       */
      readonly afterEscape?: Stroke;
    }
  /**
   * Several characters at once. It is text, whatever it contains, and never a command. `of` names the key
   * where all of them are one: it was held down, and came late.
   */
  | { readonly kind: 'chunk'; readonly text: string; readonly of?: string };

/** Names what Ink reports. Nothing for keys this UI has no use for. */
export function keyOf(input: string, key: Key): Stroke | undefined {
  // A terminal that another program left in this mode reports each key twice.
  if (key.eventType === 'release') return undefined;
  if (!key.meta) return aloneOf(input, key);
  const alone = aloneOf(input, { ...key, meta: false });
  if (alone?.kind !== 'key') return alone;
  const [wordMove] = /(?<=^|^ctrl\+)(?:left|right)$/u.exec(alone.key) ?? [];
  const name = wordMove === undefined ? `meta+${alone.key}` : `ctrl+${wordMove}`;
  return { kind: 'key', key: name, afterEscape: alone };
}

/**
 * What was pressed, and what was pressed after it. What a screen does not take as a key with Alt is Escape
 * and the key: an Escape that is lost would leave what follows it to the question that it leads away from.
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
