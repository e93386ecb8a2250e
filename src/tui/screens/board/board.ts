import { BOARD_SORTS, type BoardSort, boardRows, type FleetRow } from '../../../view/app/fleet-row.ts';
import type { Fleet, RunRow } from '../../../view/app/sources.ts';
import { factAt, fleetAt } from '../../../view/fleet/fleet-facts.ts';
import { type Band, band, filledUp, GAP, type Layout, WIDE, wall } from '../../bands.ts';
import { cutLine, memoised, wrapLine } from '../../line.ts';
import { type AppEffect, type Around, type BoundKey, footerKey } from '../../live-screen.ts';
import { badgeOfHome, type OpenScreen, screen } from '../../module-screen.ts';
import {
  cursorAt,
  escapeKeys,
  FRESH_LIST,
  filtered,
  filterLines,
  heldIn,
  heldOrder,
  inOrder,
  isListIntent,
  type ListIntent,
  type ListState,
  listKeys,
  MARK_KEY,
  markedAs,
  moved,
  placed,
  typedInto,
} from '../../parts/list.ts';
import { tableLines } from '../../parts/table.ts';
import { type Line, type Look, span } from '../../span.ts';
import { askedOf, boardColumns, detailLines } from './board-detail.ts';
import { topLines } from './board-top.ts';

interface BoardState {
  readonly list: ListState;
  readonly sort: BoardSort;
}

const NO_FLEET: Pick<Fleet, 'instances'> = { instances: [] };
const NO_RUNS: readonly RunRow[] = [];

/** Every instance, those at risk first, with open runs above and the selected instance in full. */
export function boardScreen(): OpenScreen {
  const sorted = memoised(boardRows);
  const kept = memoised((rows: readonly FleetRow[], list: ListState['filter'], text: string) =>
    text === '' ? rows : filtered(rows, { ...FRESH_LIST, filter: list }, ({ words }) => words),
  );
  const ordered = memoised((rows: readonly FleetRow[], order: readonly string[] | undefined) =>
    inOrder(rows, order, ({ name }) => name),
  );
  const namesOf = memoised((rows: readonly FleetRow[]) => rows.map(({ name }) => name));
  const openOf = memoised((runs: readonly RunRow[]) => runs.filter(({ status }) => status === 'open'));
  const open = ({ facts }: Around) => openOf(facts.get('runs', null).last?.value ?? NO_RUNS);
  const allOf = ({ list, sort }: BoardState, { facts, now }: Around) =>
    ordered(sorted(fleetNow(facts, now) ?? NO_FLEET, sort), heldOrder(list, now));
  const at = (state: BoardState, around: Around) => {
    const { list } = state;
    const all = allOf(state, around);
    const rows = kept(all, list.filter, list.filter.text);
    const names = namesOf(rows);
    // Until all have answered, the order is not final, so no row is selected automatically.
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
      { source: 'workers', of: null },
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
        // A row counts as selected only once a key moved the cursor.
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

/** Whether every instance that the filter lets through has answered, so that the order is meaningful. */
function isSorted({ filter, isFiltering }: ListState, rows: readonly FleetRow[], { facts }: Around): boolean {
  const { last, isAsking } = facts.get('fleet', null);
  const known = last?.value;
  const isChosen = filter.text !== '' && !isFiltering;
  const meant = isChosen ? rows : known?.instances;
  return !isAsking || meant?.every(({ name }) => known?.answeredAt?.has(name)) === true;
}

function sortAfter(sort: BoardSort): BoardSort {
  return BOARD_SORTS[(BOARD_SORTS.indexOf(sort) + 1) % BOARD_SORTS.length] ?? 'danger';
}

interface Shown {
  readonly rows: readonly FleetRow[];
  /** The count without the filter. */
  readonly all: number;
  readonly cursor: number;
  readonly here: FleetRow | undefined;
  readonly open: readonly RunRow[];
}

/** At most this fraction of the rows goes to what is above the table: 1 in 3. */
const TOP_SHARE = 3;
const MIN_TABLE = 4;
const MIN_DETAIL = 5;
/** Width of the table with all columns; the rest of a wide screen goes to the detail beside it. */
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
    workers: facts.get('workers', null),
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
        columns: boardColumns(asked).map((column) => ({
          ...column,
          cell: (row: FleetRow) => column.cell(row.status()),
        })),
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
      : detailLines(shown.here.status(), asked, wide, look);
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

/** Cuts to a height; the last row then says which key shows the rest. */
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

type BoardIntent =
  | 'open'
  | 'start'
  | 'resume'
  | 'runs'
  | 'followups'
  | 'keys'
  | 'journal'
  | 'lab'
  | 'sort'
  | 'copy'
  | 'mark-all'
  | 'back-up'
  | 'cards'
  | ListIntent;

function boardKeys(
  list: ListState,
  { here, rows }: { readonly here: FleetRow | undefined; readonly rows: readonly FleetRow[] },
  open: readonly RunRow[],
  nextSort: string,
  hasLab: boolean,
): readonly BoundKey<BoardIntent>[] {
  if (list.isFiltering) return listKeys(list);
  const isEmpty = rows.length === 0;
  const none = here !== undefined ? undefined : isEmpty ? 'there is no instance in the list' : NOT_CHOSEN;
  const marks = list.marked.size;
  const [only] = open;
  const clearing = escapeKeys(list);
  const isOne = open.length === 1 && only !== undefined;
  // Marked or filtered rows are probably about to be acted on, so their keys come first.
  const marking: readonly BoundKey<BoardIntent>[] = [
    {
      intent: 'mark-all',
      keys: ['a'],
      shown: 'a',
      label: 'mark all',
      description: 'mark all instances that the filter shows, or unmark them where they are marked',
      inFooter: list.filter.text !== '',
      disabled: isEmpty ? none : undefined,
    },
    {
      intent: 'back-up',
      keys: ['b'],
      shown: 'b',
      label: `back up ${marks}`,
      description: 'back up and verify each instance that is marked, one after the other',
      inFooter: marks > 0,
      disabled: marks === 0 ? NONE_MARKED : undefined,
    },
    {
      intent: 'cards',
      keys: ['c'],
      shown: 'c',
      label: 'cards',
      description: 'make a recovery card of each instance that is marked, one after the other',
      inFooter: marks > 0,
      disabled: marks === 0 ? NONE_MARKED : undefined,
    },
    {
      intent: 'unmark',
      keys: ['u'],
      shown: 'u',
      label: 'unmark',
      description: 'unmark all',
      inFooter: marks > 0 && clearing.every(({ intent }) => intent !== 'unmark'),
      disabled: marks === 0 ? 'nothing is marked' : undefined,
    },
  ];
  return [
    {
      ...footerKey(
        'enter',
        'open',
        'look',
        'look at the instance: its backups, restores, metrics and configuration',
      ),
      disabled: none,
    },
    {
      ...footerKey('s', 'start', 'start', 'start a recovery, a rotation or another runbook on the instance'),
      disabled:
        marks > 1
          ? `a run changes one instance, and ${marks} are marked: b backs them up, c makes their cards, u unmarks them`
          : undefined,
    },
    ...(marks > 0 || list.filter.text !== '' ? [...clearing, ...marking] : []),
    {
      ...footerKey(
        'o',
        'resume',
        isOne ? (only.heldBy === undefined ? 'resume' : 'watch') : 'open runs',
        isOne
          ? `go to the open run: ${only.runbook} of ${only.instance}`
          : 'go to the open runs, to resume or watch one',
      ),
      disabled: open.length === 0 ? 'no run is open' : undefined,
    },
    footerKey('r', 'runs', 'runs', 'show all runs'),
    footerKey('f', 'followups', 'follow-ups', 'show the work that recoveries leave, to do, close or skip it'),
    footerKey('K', 'keys', 'keys', 'show all keys'),
    footerKey('J', 'journal', 'journal', 'show the entries of the journal'),
    ...(hasLab ? [LAB] : []),
    {
      intent: 'sort',
      keys: ['S'],
      shown: 'S',
      label: `by ${nextSort}`,
      description: 'sort by danger, name, age of the newest backup, or what is left of the RPO',
      inFooter: false,
    },
    {
      ...MARK_KEY,
      description:
        'mark or unmark the instance; with all that are marked, b backs up, c makes recovery cards, y copies names',
      disabled: none,
    },
    ...(marks > 0 || list.filter.text !== '' ? [] : marking),
    {
      intent: 'copy',
      keys: ['y'],
      shown: 'y',
      label: 'copy',
      description: 'copy the name of the instance, or of all that are marked',
      inFooter: marks > 0,
      disabled: none,
    },
    ...listKeys(list).filter(({ keys }) => !keys.includes('escape')),
    ...EVERYWHERE,
  ];
}

const NONE_MARKED = 'nothing is marked: Space marks a row, a all that are shown';

/** The instances are being asked for the first time, or the selected row is gone. */
const NOT_CHOSEN = 'no instance is chosen: down chooses the first one';

const LAB: BoundKey<BoardIntent> = footerKey(
  'L',
  'lab',
  'lab',
  'break things in the lab of this config; only where the config names one',
);

/** Keys that the app handles, listed for the footer. */
const EVERYWHERE: readonly BoundKey<BoardIntent>[] = [
  { intent: 'open', keys: [], shown: '?', label: 'help', description: 'show these keys', inFooter: true },
];
