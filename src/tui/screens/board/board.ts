import type { RunRow } from '../../../view/app/run-row.ts';
import type { Fleet } from '../../../view/app/sources.ts';
import {
  BOARD_SORTS,
  type BoardSort,
  boardRows,
  keyCell,
  newestCell,
  serviceCell,
} from '../../../view/app/status-cells.ts';
import { factAt, fleetAt } from '../../../view/fleet/fleet-at.ts';
import type { InstanceStatus } from '../../../view/fleet/status-schema.ts';
import { type Band, band, filledUp, GAP, type Layout, WIDE, wall } from '../../bands.ts';
import { cutLine, wrapLine } from '../../line.ts';
import type { AppEffect, Around } from '../../live-screen.ts';
import { memoised } from '../../memo.ts';
import { badgeOfHome, type OpenScreen, screen } from '../../module-screen.ts';
import {
  cursorAt,
  FRESH_LIST,
  filtered,
  filterLines,
  heldIn,
  heldOrder,
  inOrder,
  isListIntent,
  type ListState,
  markedAs,
  moved,
  placed,
  typedInto,
} from '../../parts/list.ts';
import { tableLines } from '../../parts/table.ts';
import { type Line, type Look, span } from '../../span.ts';
import { askedOf, boardColumns, failedWord } from './board-columns.ts';
import { detailLines } from './board-detail.ts';
import { type BoardIntent, boardKeys } from './board-keys.ts';
import { topLines } from './board-top.ts';

/** What a person has done on the board. */
export interface BoardState {
  readonly list: ListState;
  readonly sort: BoardSort;
}

const NO_FLEET: Pick<Fleet, 'instances'> = { instances: [] };
const NO_RUNS: readonly RunRow[] = [];

/** Every instance, those in danger first, with the open runs above and the instance of the cursor in full. */
export function boardScreen(): OpenScreen {
  const sorted = memoised(boardRows);
  const kept = memoised((rows: readonly InstanceStatus[], list: ListState['filter'], text: string) =>
    text === '' ? rows : filtered(rows, { ...FRESH_LIST, filter: list }, filterText),
  );
  const ordered = memoised((rows: readonly InstanceStatus[], order: readonly string[] | undefined) =>
    inOrder(rows, order, ({ name }) => name),
  );
  const namesOf = memoised((rows: readonly InstanceStatus[]) => rows.map(({ name }) => name));
  const openOf = memoised((runs: readonly RunRow[]) => runs.filter(({ status }) => status === 'open'));
  const open = ({ facts }: Around) => openOf(facts.get('runs', null).last?.value ?? NO_RUNS);
  const allOf = ({ list, sort }: BoardState, { facts, now }: Around) =>
    ordered(sorted(fleetNow(facts, now) ?? NO_FLEET, sort), heldOrder(list, now));
  const at = (state: BoardState, around: Around) => {
    const { list } = state;
    const all = allOf(state, around);
    const rows = kept(all, list.filter, list.filter.text);
    const names = namesOf(rows);
    // Before all have answered no row is the worst one yet, so none is chosen for the person.
    const known = isSorted(list, rows, around) ? list : { ...list, isPlaced: true };
    const cursor = cursorAt(known, names);
    return { rows, names, known, cursor, here: rows[cursor], all };
  };

  const shownOf = (state: BoardState, around: Around): Shown => {
    const found = at(state, around);
    return { ...found, all: found.all.length, open: open(around) };
  };

  return screen<BoardState, BoardIntent>({
    init: { list: FRESH_LIST, sort: 'danger' },
    subject: () => '',
    title: () => 'all instances',
    badge: (_, around) => badgeOfHome(around),
    isTyping: ({ list }) => list.isFiltering,
    keys: (state, around) =>
      boardKeys(
        state.list,
        at(state, around),
        open(around),
        sortAfter(state.sort),
        around.facts.get('home', null).last?.value.lab !== undefined,
      ),
    needs: () => [
      { source: 'fleet', of: null },
      { source: 'runs', of: null },
    ],
    shown: (state, around) => {
      const { known, names } = at(state, around);
      const list = known.isPlaced ? state.list : placed(known, names);
      return list === state.list ? state : { ...state, list };
    },
    reduce: (before, input, around) => {
      const { names, known, here, all } = at(before, around);
      const held = (list: ListState) => heldIn(list, namesOf(all), around.now);
      const state: BoardState = { ...before, list: held(before.list) };
      if (input.type === 'text') return [{ ...state, list: typedInto(state.list, input.text) }];
      if (isListIntent(input.intent)) {
        const list = moved(held(known), input.intent, names, input.page.height);
        // Only a key that went to a row has chosen one.
        const isPlaced = list.isPlaced && (before.list.isPlaced || list.cursor !== before.list.cursor);
        return [{ ...state, list: { ...list, isPlaced } }];
      }
      switch (input.intent) {
        case 'sort':
          return [{ list: { ...before.list, held: undefined }, sort: sortAfter(state.sort) }];
        case 'mark-all': {
          const { marked } = state.list;
          const isAll = names.every((name) => marked.has(name));
          const others = [...marked].filter((name) => !names.includes(name));
          const next = new Set(isAll ? others : [...marked, ...names]);
          return [{ ...state, list: markedAs(state.list, next) }];
        }
        default:
          return [state, ...effectsOf(input.intent, state, here?.name, open(around))];
      }
    },
    layOut: (state, around, look) => layOut(state, around, look, shownOf(state, around)),
  });
}

function effectsOf(
  intent: Exclude<BoardIntent, 'sort' | 'mark-all'>,
  { list }: BoardState,
  here: string | undefined,
  open: readonly RunRow[],
): readonly AppEffect[] {
  const [marked] = list.marked;
  switch (intent) {
    case 'open':
      return here === undefined ? [] : [{ type: 'open', screen: { name: 'instance', instance: here } }];
    case 'start': {
      const instance = marked ?? here;
      return [{ type: 'open', screen: { name: 'start', ...(instance === undefined ? {} : { instance }) } }];
    }
    case 'back-up':
      return [{ type: 'open', screen: { name: 'each', what: 'backup', instances: [...list.marked] } }];
    case 'cards':
      return [{ type: 'open', screen: { name: 'each', what: 'card', instances: [...list.marked] } }];
    case 'resume': {
      const [run] = open;
      if (run === undefined || open.length > 1) return [{ type: 'open', screen: { name: 'runs' } }];
      if (run.heldBy !== undefined) return [{ type: 'open', screen: { name: 'watch', runId: run.runId } }];
      return [{ type: 'resume', runId: run.runId }];
    }
    case 'copy': {
      const names = list.marked.size > 0 ? [...list.marked] : here === undefined ? [] : [here];
      const what = names.length === 1 ? `the name ${names[0]}` : `${names.length} names`;
      return names.length === 0 ? [] : [{ type: 'copy', text: names.join('\n'), what }];
    }
    case 'runs':
    case 'followups':
    case 'keys':
    case 'journal':
    case 'lab':
      return [{ type: 'open', screen: { name: intent } }];
    default:
      return [];
  }
}

function fleetNow(facts: Around['facts'], now: Date): Fleet | undefined {
  const known = facts.get('fleet', null).last?.value;
  return known && fleetAt(known, now);
}

/**
 * Whether every instance has answered once, so that the order means something; behind a filter, whether those
 * have that it lets through.
 */
function isSorted(
  { filter, isFiltering }: ListState,
  rows: readonly InstanceStatus[],
  { facts }: Around,
): boolean {
  const { last, isAsking } = facts.get('fleet', null);
  const known = last?.value;
  const isChosen = filter.text !== '' && !isFiltering;
  const meant = isChosen ? rows : known?.instances;
  return !isAsking || meant?.every(({ name }) => known?.answeredAt?.has(name)) === true;
}

function sortAfter(sort: BoardSort): BoardSort {
  return BOARD_SORTS[(BOARD_SORTS.indexOf(sort) + 1) % BOARD_SORTS.length] ?? 'danger';
}

/** What the filter looks at: the name, and what the table says of it. */
function filterText(status: InstanceStatus): string {
  const { name, role, state, recoverable, key, parts, card } = status;
  const isFailed = Object.values(parts).some((part) => part?.state === 'failed');
  return [
    ...[
      name,
      role,
      state ?? '',
      recoverable.answer,
      wordOfService(status),
      newestCell(status),
      keyCell(status),
    ],
    ...key.possible.map(({ fingerprint }) => fingerprint),
    ...(isFailed ? ['failed', failedWord(status)] : []),
    ...(card === undefined ? ['no card'] : []),
  ].join(' ');
}

/** What stands out about its service; that it is well is no word to look for. */
function wordOfService(status: InstanceStatus): string {
  const word = serviceCell(status);
  return word === 'NO' ? 'out of service' : word === 'yes' || word === '?' ? '' : word;
}

interface Shown {
  readonly rows: readonly InstanceStatus[];
  /** How many there are without the filter. */
  readonly all: number;
  readonly cursor: number;
  readonly here: InstanceStatus | undefined;
  readonly open: readonly RunRow[];
}

/** The most that stands above the table, as a share of the rows. */
const TOP_SHARE = 3;
/** The fewest rows of the table, and of what is told of the instance below it. */
const MIN_TABLE = 4;
const MIN_DETAIL = 5;
/** What the table of all columns needs; the rest of a wide screen goes to the instance beside it. */
const WHOLE_TABLE = 112;
const DETAIL_WIDTH = { least: 40, most: 64 } as const;

function layOut({ list, sort }: BoardState, around: Around, look: Look, shown: Shown): Layout {
  const { facts, now, size } = around;
  const { columns: width, rows: height } = size;
  const fleet = factAt(facts.get('fleet', null), now);
  const asked = askedOf(fleet, now);
  const about = {
    fleet,
    runs: facts.get('runs', null),
    open: shown.open,
    sort,
    marked: list.marked.size,
    now,
  };
  const most = Math.max(2, Math.floor(height / TOP_SHARE));
  const isFiltered = list.isFiltering || list.filter.text !== '';
  const top = [
    ...topLines(about, width, most, look).slice(0, most),
    ...filterLines(list, width, look, { shown: shown.rows.length, all: shown.all }),
  ];
  const left = Math.max(0, height - top.length);
  const table = (wide: number, high: number) =>
    tableLines(
      {
        columns: boardColumns(asked),
        rows: shown.rows,
        cursor: shown.cursor,
        isMarked: ({ name }) => list.marked.has(name),
        empty: emptyWords(isFiltered, fleet.last === undefined),
      },
      wide,
      high,
      look,
    );
  const detail = (wide: number) =>
    shown.here === undefined
      ? width < WIDE || shown.rows.length === 0
        ? []
        : wrapLine([span('no instance is chosen: down chooses the first one', 'text.dim')], wide)
      : detailLines(shown.here, asked, wide, look);
  const topBand = band(top, width);
  if (width >= WIDE) {
    const beside = Math.min(DETAIL_WIDTH.most, Math.max(DETAIL_WIDTH.least, width - GAP - WHOLE_TABLE));
    const wide = width - GAP - beside;
    const { lines, pageRows } = table(wide, left);
    const panes = [
      { width: wide, height: left, lines },
      wall(left, look),
      { width: beside, height: left, lines: whole(detail(beside), beside, left, look) },
    ];
    const bands: readonly Band[] = [topBand, { height: left, panes }];
    return { page: { height: pageRows, last: 0 }, bands };
  }
  const details = detail(width);
  const spare = Math.max(MIN_DETAIL, left - shown.rows.length - 1);
  const below = Math.max(0, Math.min(details.length, spare, left - MIN_TABLE));
  const { lines, pageRows } = table(width, left - below);
  const rest = filledUp(whole(details, width, below, look), below);
  return { page: { height: pageRows, last: 0 }, bands: [topBand, band([...lines, ...rest], width, left)] };
}

/** Cut to a height, with a word on where the rest can be read. */
function whole(lines: readonly Line[], width: number, height: number, look: Look): readonly Line[] {
  if (lines.length <= height) return filledUp(lines, height);
  const note = `${look.glyphs.more} Enter shows the rest`;
  return [...lines.slice(0, Math.max(0, height - 1)), cutLine([span(note, 'text.dim')], width, look)].slice(
    0,
    height,
  );
}

function emptyWords(isFiltered: boolean, isReading: boolean): string {
  if (isReading) return '';
  return isFiltered ? 'no instance fits the filter: Esc drops it' : 'there is no instance to show';
}
