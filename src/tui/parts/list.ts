import { padLine } from '../line.ts';
import type { BoundKey } from '../live-screen.ts';
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

/**
 * What a person does in a list. The cursor is on a row by its key, so that it stays there when rows arrive or
 * change their order.
 */
export interface ListState {
  readonly cursor: string | undefined;
  /**
   * Whether the cursor was shown on a row, or moved there. It then goes to no other row by itself: a key
   * would act on something else than what was on the screen.
   */
  readonly isPlaced: boolean;
  /** The order in which the rows were when a key was pressed; it stays for `HELD_MS` after. */
  readonly held?: { readonly keys: readonly string[]; readonly sinceMs: number } | undefined;
  readonly filter: Field;
  readonly isFiltering: boolean;
  readonly marked: ReadonlySet<string>;
  /** Whether something was marked since the filter was changed last. */
  readonly isMarkedLast?: boolean;
}

export const FRESH_LIST: ListState = {
  cursor: undefined,
  isPlaced: false,
  filter: EMPTY_FIELD,
  isFiltering: false,
  marked: new Set(),
};

/** The intents of a list: screens spread `LIST_KEYS` into theirs. */
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
  {
    intent: 'keep-filter',
    keys: ['enter'],
    shown: 'Enter',
    label: 'keep the filter',
    description: 'keep the filter and go back to the list',
    inFooter: true,
  },
  PALETTE_KEY,
  {
    intent: 'end-filter',
    keys: ['escape', 'ctrl+c'],
    shown: 'Esc',
    label: 'all rows',
    description: 'drop the filter',
    inFooter: true,
  },
  { ...KEY, intent: 'up', keys: ['up'], shown: '', label: '', description: 'move up' },
  { ...KEY, intent: 'down', keys: ['down'], shown: '', label: '', description: 'move down' },
];

/** The keys of a list now. While the filter is typed, letters are text. */
export function listKeys(list: ListState): readonly BoundKey<ListIntent>[] {
  if (list.isFiltering) return [...FILTERING, ...fieldKeys()];
  const filter: BoundKey<ListIntent> = {
    intent: 'filter',
    keys: ['/'],
    shown: '/',
    label: 'filter',
    description: 'show only the rows that contain some text',
    inFooter: true,
  };
  return [...MOVES, filter, ...escapeKeys(list)];
}

/** What Escape takes back before it leads out: the filter or the marks, the newer of them first. */
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

/** The key that leads back; the stack of screens takes it, so that no screen has an intent for it. */
export const BACK_KEY: BoundKey<never> = {
  intent: 'back' as never,
  keys: [],
  shown: 'Esc',
  label: 'back',
  description: 'go back',
  inFooter: true,
};

/** The key that marks a row, for screens that do something with several rows. */
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

/** Whether an intent of a screen is one of its list's. */
export function isListIntent(intent: string): intent is ListIntent {
  return LIST_INTENTS.has(intent) || intent.startsWith('field:');
}

const LIST_INTENTS: ReadonlySet<string> = new Set<string>([
  ...[...MOVES, ...FILTERING, MARK_KEY].map(({ intent }) => intent),
  'filter',
  'unmark',
]);

/** The rows that the filter lets through: those in which each of its words occurs, in any case. */
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

/**
 * Where the cursor is among these keys: the first where it was not placed yet; -1 in an empty list, and where
 * the row on which it was is gone.
 */
export function cursorAt({ cursor, isPlaced }: ListState, keys: readonly string[]): number {
  const at = cursor === undefined ? -1 : keys.indexOf(cursor);
  return at !== -1 || isPlaced || keys.length === 0 ? at : 0;
}

/** The list once these rows are on the screen: from then on the cursor stays on its row. */
export function placed(list: ListState, keys: readonly string[]): ListState {
  const cursor = keys[cursorAt(list, keys)];
  return list.isPlaced || cursor === undefined ? list : { ...list, cursor, isPlaced: true };
}

/** Milliseconds for which rows keep their order after a key. */
const HELD_MS = 5_000;

/** The list with its rows held in the order of these keys for a while. */
export function heldIn(list: ListState, keys: readonly string[], now: Date): ListState {
  return { ...list, held: { keys, sinceMs: now.getTime() } };
}

/** In which order the rows are held now; undefined where they may move. */
export function heldOrder({ held }: ListState, now: Date): readonly string[] | undefined {
  // The clock of the machine may be set back; nothing is held until it is as late again.
  const age = held === undefined ? HELD_MS : now.getTime() - held.sinceMs;
  return age >= 0 && age < HELD_MS ? held?.keys : undefined;
}

/** The rows in an order that is held; those that came since are the last ones. */
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

/** The list after an intent. `keys` are those of the rows that are shown, `page` how many fit. */
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

/** The list with a text typed into its filter. */
export function typedInto(list: ListState, text: string): ListState {
  return filterAs(list, typed(list.filter, text));
}

/** The list with these rows marked. */
export function markedAs(list: ListState, marked: ReadonlySet<string>): ListState {
  return { ...list, marked, isMarkedLast: true };
}

function filterAs(list: ListState, filter: Field): ListState {
  return { ...list, filter, isPlaced: false, isMarkedLast: false };
}

/**
 * The row of the filter above a list, with how many rows it lets through; none where nothing is filtered.
 */
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
