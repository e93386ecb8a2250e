import { show } from '../../base/text.ts';
import { GraphemeSegmenter } from '../../plain/graphemes.ts';
import { cells, cutText } from '../../plain/width.ts';
import type { BoundKey, Input } from '../live-screen.ts';
import { type Line, type Look, span, TEXT_LIMIT } from '../span.ts';

/** A one-line field. `cursor` is the index of the grapheme that it stands before. */
export interface Field {
  readonly text: string;
  readonly cursor: number;
}

export const EMPTY_FIELD: Field = { text: '', cursor: 0 };

/** The longest text, in graphemes. */
const LONGEST = 1_000;

export type FieldIntent =
  | 'erase'
  | 'erase-next'
  | 'erase-word'
  | 'clear'
  | 'left'
  | 'right'
  | 'word-left'
  | 'word-right'
  | 'begin'
  | 'end';

/** Editing keys, as in readline and most shells. */
export const FIELD_KEYS: readonly { readonly intent: FieldIntent; readonly keys: readonly string[] }[] = [
  { intent: 'erase', keys: ['backspace', 'ctrl+h'] },
  { intent: 'erase-next', keys: ['delete', 'ctrl+d'] },
  { intent: 'erase-word', keys: ['ctrl+w', 'meta+backspace'] },
  { intent: 'clear', keys: ['ctrl+u'] },
  { intent: 'left', keys: ['left', 'ctrl+b'] },
  { intent: 'right', keys: ['right', 'ctrl+f'] },
  { intent: 'word-left', keys: ['ctrl+left', 'meta+b'] },
  { intent: 'word-right', keys: ['ctrl+right', 'meta+f'] },
  { intent: 'begin', keys: ['home', 'ctrl+a'] },
  { intent: 'end', keys: ['end', 'ctrl+e'] },
];

/** `FIELD_KEYS` as bindings of a screen, left out of the footer. */
export const EDITING_KEYS: readonly BoundKey<FieldIntent>[] = FIELD_KEYS.map((key) => ({
  ...key,
  shown: '',
  label: '',
  description: 'edit the text',
  inFooter: false,
}));

/** Handled by the app; shown where letters are text, so that `?` opens no help. */
export const PALETTE_KEY: BoundKey<never> = {
  intent: 'palette' as never,
  keys: [],
  shown: 'Ctrl-K',
  label: 'find',
  description: 'find anything; first the keys that work here',
  inFooter: true,
};

export function fieldIntentOf(key: string): FieldIntent | undefined {
  return FIELD_KEYS.find(({ keys }) => keys.includes(key))?.intent;
}

export function isFieldIntent(intent: string): intent is FieldIntent {
  return FIELD_INTENTS.has(intent);
}

const FIELD_INTENTS: ReadonlySet<string> = new Set(FIELD_KEYS.map(({ intent }) => intent));

/** The field after text (inserted by `put`, if given) or an editing key. Other intents change nothing. */
export function fieldAfter(
  field: Field,
  input: Input<string>,
  put: (field: Field, text: string) => Field = typed,
): Field {
  if (input.type === 'text') return put(field, input.text);
  return isFieldIntent(input.intent) ? edited(field, input.intent) : field;
}

/** Inserts text at the cursor. Control characters and line ends become blanks. */
export function typed(field: Field, text: string): Field {
  const put = graphemes(text.replace(/[\p{Cc}\p{Cf}\u2028\u2029]+/gu, ' '));
  const room = Math.max(0, LONGEST - graphemes(field.text).length);
  return inserted(field, put.slice(0, room).join(''));
}

/** Inserts text unchanged, for what has to be right to the character. */
export function inserted(field: Field, text: string): Field {
  const all = graphemes(field.text);
  const before = all.slice(0, field.cursor).join('') + text;
  // Inserted text may combine with the grapheme before it, as an accent does.
  return { text: before + all.slice(field.cursor).join(''), cursor: graphemes(before).length };
}

export function edited(field: Field, intent: FieldIntent): Field {
  const all = graphemes(field.text);
  const at = Math.min(field.cursor, all.length);
  const cut = (from: number, to: number): Field => ({
    text: [...all.slice(0, from), ...all.slice(to)].join(''),
    cursor: from,
  });
  const to = (cursor: number): Field => ({ ...field, cursor });
  switch (intent) {
    case 'erase':
      return cut(Math.max(0, at - 1), at);
    case 'erase-next':
      return cut(at, Math.min(all.length, at + 1));
    case 'erase-word':
      return cut(wordBefore(all, at), at);
    case 'clear':
      return EMPTY_FIELD;
    case 'left':
      return to(Math.max(0, at - 1));
    case 'right':
      return to(Math.min(all.length, at + 1));
    case 'word-left':
      return to(wordBefore(all, at));
    case 'word-right':
      return to(wordAfter(all, at));
    case 'begin':
      return to(0);
    case 'end':
      return to(all.length);
  }
}

export function fieldOf(text: string): Field {
  return typed(EMPTY_FIELD, text);
}

/** The field as it is drawn: characters that could act on the terminal may be drawn wider. */
export function printedField({ text, cursor }: Field): Field {
  const all = graphemes(text);
  const shown = (from: number, to?: number) => show(all.slice(from, to).join(''), TEXT_LIMIT);
  const before = shown(0, cursor);
  return { text: before + shown(cursor), cursor: graphemes(before).length };
}

/** The field in at most `width` cells; if it is too long, its beginning is cut. */
export function fieldLine(label: string, { text, cursor }: Field, width: number, look: Look): Line {
  const lead = cutText(label, Math.max(0, width - 10), look.glyphs.ellipsis);
  const all = graphemes(text);
  const room = Math.max(2, width - cells(lead) - 1);
  // Each grapheme takes at least one cell.
  let first = Math.max(0, cursor - room);
  while (first < cursor && cells(all.slice(first, cursor).join('')) >= room) first += 1;
  const under = all[cursor] ?? ' ';
  const after = cutText(
    all.slice(cursor + 1).join(''),
    Math.max(0, room - cells(all.slice(first, cursor).join('')) - cells(under)),
    look.glyphs.ellipsis,
  );
  return [
    span(lead, 'text.dim'),
    span(all.slice(first, cursor).join('')),
    span(under, 'cursor'),
    span(after),
  ];
}

const SEGMENTS = new GraphemeSegmenter();

export function graphemes(text: string): string[] {
  return Array.from(SEGMENTS.segment(text), ({ segment }) => segment);
}

function wordBefore(all: readonly string[], at: number): number {
  let to = at;
  while (to > 0 && isBlank(all[to - 1])) to -= 1;
  while (to > 0 && !isBlank(all[to - 1])) to -= 1;
  return to;
}

function wordAfter(all: readonly string[], at: number): number {
  let to = at;
  while (to < all.length && isBlank(all[to])) to += 1;
  while (to < all.length && !isBlank(all[to])) to += 1;
  return to;
}

function isBlank(character: string | undefined): boolean {
  return character === undefined || /^\s$/u.test(character);
}
