import { padLine } from '../line.ts';
import type { BoundKey } from '../live-screen.ts';
import { footerKey } from '../live-screen.ts';
import { type Line, type Look, span } from '../span.ts';
import {
  EMPTY_FIELD,
  edited,
  FIELD_KEYS,
  type Field,
  fieldIntentOf,
  fieldLine,
  PALETTE_KEY,
  typed,
} from './field.ts';

/** The cursor is identified by a row's key, so that it stays there when rows arrive or are sorted. */
export interface ListState {
  readonly cursor: string | undefined;
  /**
   * Whether the cursor was shown on a row or moved there. From then on it does not move by itself: a key
   * would act on another row than the one on the screen.
   */
  readonly isPlaced: boolean;
  /** The order of the rows at the last key press; it is kept for `HELD_MS`. */
  readonly held?: { readonly keys: readonly string[]; readonly sinceMs: number } | undefined;
  readonly filter: Field;
  readonly isFiltering: boolean;
  readonly marked: ReadonlySet<string>;
  /** Whether the marks are newer than the filter. */
  readonly isMarkedLast?: boolean;
}

export const FRESH_LIST: ListState = {
  cursor: undefined,
  isPlaced: false,
  filter: EMPTY_FIELD,
  isFiltering: false,
  marked: new Set(),
};

export type ListIntent =
  | 'up'
  | 'down'
  | 'page-up'
  | 'page-down'
  | 'first'
  | 'last'
  | 'filter'
  | 'end-filter'
  | 'keep-filter'
  | 'mark'
  | 'unmark'
  | `field:${string}`;

const KEY = { inFooter: false } as const;

const MOVES: readonly BoundKey<ListIntent>[] = [
  {
    ...KEY,
    intent: 'up',
    keys: ['up', 'k'],
    shown: 'up/down',
    label: 'move',
    description: 'move to another row (also j and k)',
  },
  { ...KEY, intent: 'down', keys: ['down', 'j'], shown: '', label: '', description: 'move down' },
  {
    ...KEY,
    intent: 'page-down',
    keys: ['pagedown'],
    shown: 'PgDn/PgUp',
    label: 'page',
    description: 'move by a page',
  },
  { ...KEY, intent: 'page-up', keys: ['pageup'], shown: '', label: '', description: 'move back by a page' },
  {
    ...KEY,
    intent: 'first',
    keys: ['home', 'g'],
    shown: 'g/G',
    label: 'ends',
    description: 'go to the first or the last row',
  },
  { ...KEY, intent: 'last', keys: ['end', 'G'], shown: '', label: '', description: 'go to the last row' },
];

const FILTERING: readonly BoundKey<ListIntent>[] = [
  footerKey('enter', 'keep-filter', 'keep the filter', 'keep the filter and go back to the list'),
  PALETTE_KEY,
  footerKey(['escape', 'ctrl+c'], 'end-filter', 'all rows', 'drop the filter'),
  { ...KEY, intent: 'up', keys: ['up'], shown: '', label: '', description: 'move up' },
  { ...KEY, intent: 'down', keys: ['down'], shown: '', label: '', description: 'move down' },
];

/** The keys of a list. While the filter is typed, letters are text. */
export function listKeys(list: ListState): readonly BoundKey<ListIntent>[] {
  if (list.isFiltering) return [...FILTERING, ...fieldKeys()];
  const filter: BoundKey<ListIntent> = footerKey(
    '/',
    'filter',
    'filter',
    'show only the rows that contain some text',
  );
  return [...MOVES, filter, ...escapeKeys(list)];
}

/** What Escape clears before it leaves: filter or marks, the newer first. */
export function escapeKeys(list: ListState): readonly BoundKey<ListIntent>[] {
  if (list.isFiltering) return [];
  const { filter, marked, isMarkedLast } = list;
  const key = { keys: ['escape'], shown: 'Esc', inFooter: true } as const;
  if (filter.text !== '' && (marked.size === 0 || isMarkedLast !== true))
    return [{ ...key, intent: 'end-filter', label: 'all rows', description: 'drop the filter' }];
  return marked.size === 0
    ? []
    : [{ ...key, intent: 'unmark', label: `unmark ${marked.size}`, description: 'unmark all rows' }];
}

/** The stack of screens handles this key, so screens have no intent for it. */
export const BACK_KEY: BoundKey<never> = {
  intent: 'back' as never,
  keys: [],
  shown: 'Esc',
  label: 'back',
  description: 'go back',
  inFooter: true,
};

/** Marks a row, on screens that act on several rows. */
export const MARK_KEY: BoundKey<ListIntent> = {
  intent: 'mark',
  keys: [' '],
  shown: 'Space',
  label: 'mark',
  description: 'mark or unmark the row',
  inFooter: false,
};

function fieldKeys(): readonly BoundKey<ListIntent>[] {
  return FIELD_KEYS.flatMap(({ keys }) => keys).map((key) => ({
    ...KEY,
    intent: `field:${key}` as const,
    keys: [key],
    shown: '',
    label: '',
    description: 'edit the filter',
  }));
}

export function isListIntent(intent: string): intent is ListIntent {
  return LIST_INTENTS.has(intent) || intent.startsWith('field:');
}

const LIST_INTENTS: ReadonlySet<string> = new Set<string>([
  ...[...MOVES, ...FILTERING, MARK_KEY].map(({ intent }) => intent),
  'filter',
  'unmark',
]);

/** The rows that contain every word of the filter, in any case. */
export function filtered<Row>(
  rows: readonly Row[],
  { filter }: ListState,
  textOf: (row: Row) => string,
): readonly Row[] {
  const words = filter.text
    .toLowerCase()
    .split(' ')
    .filter((word) => word !== '');
  if (words.length === 0) return rows;
  return rows.filter((row) => {
    const text = textOf(row).toLowerCase();
    return words.every((word) => text.includes(word));
  });
}

/** Index of the cursor: 0 until it was placed; -1 in an empty list, or if its row is gone. */
export function cursorAt({ cursor, isPlaced }: ListState, keys: readonly string[]): number {
  const at = cursor === undefined ? -1 : keys.indexOf(cursor);
  return at !== -1 || isPlaced || keys.length === 0 ? at : 0;
}

/** The list once these rows were drawn: from then on the cursor stays on its row. */
export function placed(list: ListState, keys: readonly string[]): ListState {
  const cursor = keys[cursorAt(list, keys)];
  return list.isPlaced || cursor === undefined ? list : { ...list, cursor, isPlaced: true };
}

const HELD_MS = 5_000;

export function heldIn(list: ListState, keys: readonly string[], now: Date): ListState {
  return { ...list, held: { keys, sinceMs: now.getTime() } };
}

/** The order to keep now; undefined if rows may move. */
export function heldOrder({ held }: ListState, now: Date): readonly string[] | undefined {
  // If the clock was set back, hold nothing instead of waiting for hours.
  const age = held === undefined ? HELD_MS : now.getTime() - held.sinceMs;
  return age >= 0 && age < HELD_MS ? held?.keys : undefined;
}

/** Sorts rows by a kept order; new ones go last. */
export function inOrder<Row>(
  rows: readonly Row[],
  order: readonly string[] | undefined,
  keyOf: (row: Row) => string,
): readonly Row[] {
  if (order === undefined) return rows;
  const places = new Map(order.map((key, at) => [key, at]));
  const placeOf = (row: Row) => places.get(keyOf(row)) ?? order.length;
  return rows.toSorted((one, other) => placeOf(one) - placeOf(other));
}

/** The list after an intent. `keys` are those of the visible rows, `page` is how many fit. */
export function moved(list: ListState, intent: ListIntent, keys: readonly string[], page: number): ListState {
  const at = cursorAt(list, keys);
  const to = (row: number): ListState => ({
    ...list,
    cursor: keys[Math.min(keys.length - 1, Math.max(0, row))] ?? list.cursor,
    isPlaced: keys.length > 0,
  });
  if (intent.startsWith('field:')) {
    const field = fieldIntentOf(intent.slice('field:'.length));
    return field === undefined ? list : filterAs(list, edited(list.filter, field));
  }
  switch (intent) {
    case 'up':
      return to(at - 1);
    case 'down':
      return to(at + 1);
    case 'page-up':
      return to(at - page);
    case 'page-down':
      return to(at + page);
    case 'first':
      return to(0);
    case 'last':
      return to(keys.length - 1);
    case 'filter':
      return { ...list, isFiltering: true, isMarkedLast: false };
    case 'keep-filter':
      return { ...list, isFiltering: false };
    case 'end-filter':
      return { ...list, isFiltering: false, filter: EMPTY_FIELD, isPlaced: false };
    case 'mark': {
      const key = keys[at];
      if (key === undefined) return list;
      const marked = new Set(list.marked);
      if (!marked.delete(key)) marked.add(key);
      return markedAs(to(at + 1), marked);
    }
    case 'unmark':
      return markedAs(list, new Set());
    default:
      return list;
  }
}

export function typedInto(list: ListState, text: string): ListState {
  return filterAs(list, typed(list.filter, text));
}

export function markedAs(list: ListState, marked: ReadonlySet<string>): ListState {
  return { ...list, marked, isMarkedLast: true };
}

function filterAs(list: ListState, filter: Field): ListState {
  return { ...list, filter, isPlaced: false, isMarkedLast: false };
}

/** The filter row above a list, with the number of matches; empty without a filter. */
export function filterLines(
  { isFiltering, filter }: ListState,
  width: number,
  look: Look,
  count?: { readonly shown: number; readonly all: number },
): readonly Line[] {
  if (!isFiltering && filter.text === '') return [];
  if (count === undefined) return [fieldLine('/', filter, width, look)];
  const words = ` ${count.shown} of ${count.all}`;
  const room = Math.max(1, width - words.length);
  return [[...padLine(fieldLine('/', filter, room, look), room), span(words, 'text.strong')]];
}
