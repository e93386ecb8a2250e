import type { RunRow } from '../../../view/app/run-row.ts';
import type { Fleet } from '../../../view/app/sources.ts';
import { BOARD_SORTS, type BoardSort, boardRows } from '../../../view/app/status-cells.ts';
import type { InstanceStatus } from '../../../view/fleet/fleet-facts.ts';
import { type Band, band, filledUp, GAP, type Layout, WIDE, wall } from '../../bands.ts';
import { cutLine } from '../../line.ts';
import type { AppEffect, Around } from '../../live-screen.ts';
import { memoised } from '../../memo.ts';
import { badgeOfHome, type OpenScreen, screen } from '../../module-screen.ts';
import { fieldLine } from '../../parts/field.ts';
import {
  cursorAt,
  FRESH_LIST,
  filtered,
  isListIntent,
  type ListState,
  moved,
  typedInto,
} from '../../parts/list.ts';
import { tableLines } from '../../parts/table.ts';
import { type Line, type Look, span } from '../../span.ts';
import { type Asked, boardColumns } from './board-columns.ts';
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
  const namesOf = memoised((rows: readonly InstanceStatus[]) => rows.map(({ name }) => name));
  const openOf = memoised((runs: readonly RunRow[]) => runs.filter(({ status }) => status === 'open'));
  const open = ({ facts }: Around) => openOf(facts.get('runs', null).last?.value ?? NO_RUNS);
  const rowsOf = ({ list, sort }: BoardState, { facts }: Around) => {
    const all = sorted(facts.get('fleet', null).last?.value ?? NO_FLEET, sort);
    return kept(all, list.filter, list.filter.text);
  };
  const at = (state: BoardState, around: Around) => {
    const rows = rowsOf(state, around);
    const cursor = cursorAt(state.list, namesOf(rows));
    return { rows, cursor, here: rows[cursor] };
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
        at(state, around).here,
        open(around),
        sortAfter(state.sort),
        around.facts.get('home', null).last?.value.lab !== undefined,
      ),
    needs: () => [
      { source: 'fleet', of: null },
      { source: 'runs', of: null },
    ],
    reduce: (state, input, around) => {
      if (input.type === 'text') return [{ ...state, list: typedInto(state.list, input.text) }];
      const { rows, here } = at(state, around);
      if (isListIntent(input.intent)) {
        const list = moved(state.list, input.intent, namesOf(rows), input.page.height);
        return [{ ...state, list }];
      }
      switch (input.intent) {
        case 'sort':
          return [{ ...state, sort: sortAfter(state.sort) }];
        case 'unmark':
          return [{ ...state, list: { ...state.list, marked: new Set() } }];
        default:
          return [state, ...effectsOf(input.intent, state, here?.name, open(around))];
      }
    },
    layOut: (state, around, look) =>
      layOut(state, around, look, { ...at(state, around), open: open(around) }),
  });
}

function effectsOf(
  intent: Exclude<BoardIntent, 'sort' | 'unmark'>,
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
    case 'keys':
    case 'journal':
    case 'lab':
      return [{ type: 'open', screen: { name: intent } }];
    default:
      return [];
  }
}

function sortAfter(sort: BoardSort): BoardSort {
  return BOARD_SORTS[(BOARD_SORTS.indexOf(sort) + 1) % BOARD_SORTS.length] ?? 'danger';
}

/** What the filter looks at: the name, and the answer in the words of the table. */
function filterText({ name, role, state, recoverable }: InstanceStatus): string {
  return `${name} ${role} ${state ?? ''} ${recoverable.answer}`;
}

interface Shown {
  readonly rows: readonly InstanceStatus[];
  readonly cursor: number;
  readonly here: InstanceStatus | undefined;
  readonly open: readonly RunRow[];
}

/** The most that stands above the table, as a share of the rows. */
const TOP_SHARE = 3;
/** The fewest rows of the table, and of what is told of the instance below it. */
const LEAST_TABLE = 4;
const LEAST_DETAIL = 5;
/** What the table of all columns needs; the rest of a wide screen goes to the instance beside it. */
const WHOLE_TABLE = 112;
const DETAIL_WIDTH = { least: 40, most: 64 } as const;

function layOut({ list, sort }: BoardState, around: Around, look: Look, shown: Shown): Layout {
  const { facts, now, size } = around;
  const { columns: width, rows: height } = size;
  const fleet = facts.get('fleet', null);
  const asked: Asked = {
    answeredAt: fleet.last?.value.answeredAt ?? new Map(),
    isAsking: fleet.isAsking,
    now,
  };
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
    ...(isFiltered ? [fieldLine('/', list.filter, width, look)] : []),
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
    shown.here === undefined ? [] : detailLines(shown.here, asked, wide, look);
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
  const spare = Math.max(LEAST_DETAIL, left - shown.rows.length - 1);
  const below = Math.max(0, Math.min(details.length, spare, left - LEAST_TABLE));
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
