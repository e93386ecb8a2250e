import {
  ENTRIES_A_PAGE,
  type EntriesPage,
  type EntriesWanted,
  type EntryRow,
} from '../../../view/app/entries-page.ts';
import type { Facts } from '../../../view/app/sources.ts';
import { filtered, type ListState } from '../../parts/list.ts';

/** More pages are not kept; `lifeboat audit show` prints everything. */
const MAX_PAGES = 100;

/** A filter that finds fewer rows than these looks into older pages by itself. */
const ENOUGH = 100;

/** What is loaded of the journal, and what is to be. */
export interface Loaded {
  /** Those that the filter lets through, the newest first. */
  readonly rows: readonly EntryRow[];
  /** The older pages that have to be there. */
  readonly wanted: readonly number[];
  /** The oldest page that is there or wanted. */
  readonly oldest: number;
  readonly isLoading: boolean;
  /** Whether the oldest row is the first entry there is. */
  readonly isAll: boolean;
  /** Whether there are older entries, and so many are here that no more are kept. */
  readonly isFull: boolean;
}

/**
 * The rows of the journal. `down` is the oldest page that somebody has moved to; a filter goes further by
 * itself, a page at a time, until it has found enough.
 */
export function loadedOf(of: EntriesWanted, down: number | undefined, list: ListState, facts: Facts): Loaded {
  const newest = facts.get('entries', of).last?.value;
  if (newest === undefined)
    return { rows: [], wanted: [], oldest: 0, isLoading: true, isAll: false, isFull: false };
  const rows = [...fitting(newest, list)];
  const top = newest.first / ENTRIES_A_PAGE;
  const least = Math.max(0, top - MAX_PAGES);
  const wanted: number[] = [];
  let isLoading = false;
  let oldest = top;
  for (let page = top - 1; page >= least; page -= 1) {
    const isMovedTo = page >= (down ?? top);
    const isSearched = list.filter.text !== '' && rows.length < ENOUGH && !isLoading;
    if (!isMovedTo && !isSearched) break;
    wanted.push(page);
    oldest = page;
    const known = facts.get('olderEntries', { ...of, page }).last?.value;
    if (known === undefined) isLoading = true;
    else rows.push(...fitting(known, list));
  }
  return {
    rows,
    wanted,
    oldest,
    isLoading,
    isAll: oldest === 0 && !isLoading,
    isFull: oldest === least && least > 0,
  };
}

/** A page is searched once for each filter, not at each frame. */
const searched = new WeakMap<EntriesPage, { readonly text: string; readonly rows: readonly EntryRow[] }>();

function fitting(page: EntriesPage, list: ListState): readonly EntryRow[] {
  const { text } = list.filter;
  const known = searched.get(page);
  if (known?.text === text) return known.rows;
  const rows = filtered(page.rows, list, (row) =>
    [row.index, row.stream, row.at, row.by, row.type, row.sentence].join(' '),
  );
  searched.set(page, { text, rows });
  return rows;
}
