import { counted } from '../../../base/format.ts';
import type { EntriesWanted, EntryRow } from '../../../view/app/entries-page.ts';
import type { AuditTrust, AuditWanted } from '../../../view/app/sources.ts';
import { type Layout, scrolledBody } from '../../bands.ts';
import { cutLine } from '../../line.ts';
import type { Around, Input, ScreenRequest } from '../../live-screen.ts';
import { memoised } from '../../memo.ts';
import { badgeOfHome, type OpenScreen, screen } from '../../module-screen.ts';
import {
  cursorAt,
  FRESH_LIST,
  filterLines,
  isListIntent,
  type ListState,
  moved,
  typedInto,
} from '../../parts/list.ts';
import { givenWith, type PathField, pathAfter, pathNeeds } from '../../parts/path-field.ts';
import { isReadingIntent, scrolledTo } from '../../parts/reading.ts';
import { tableBody } from '../../parts/table.ts';
import { BLANK, type Line, type Look, span } from '../../span.ts';
import { type Intent, keysOf, LARGEST_COPY } from './journal-keys.ts';
import { type Loaded, loadedOf } from './pages.ts';
import { auditLines, entryLines } from './texts.ts';
import { trustField, trustLayout, withTrust } from './trust.ts';

export interface JournalState {
  readonly of: EntriesWanted;
  readonly list: ListState;
  /** The oldest page that was moved to; undefined where the newest are enough. */
  readonly down: number | undefined;
  /** What lies over the list: an entry in full, the audit, or the field for what it is verified against. */
  readonly over: EntryRow | 'audit' | 'trust' | undefined;
  readonly scroll: number;
  /** How many audits were asked for. */
  readonly audits: number;
  /** What the audits go by besides the places of the journal; it grows. */
  readonly trust: AuditTrust;
  readonly path: PathField;
}

/** So near to the last row, the next page is asked for. */
const NEAR = 40;

/** The journal, or one stream of it, the newest entry first; it goes on by itself. */
export function journalScreen({ stream }: ScreenRequest & { readonly name: 'journal' }): OpenScreen {
  const of = stream === undefined ? {} : { stream };
  return screen<JournalState, Intent>({
    init: {
      of,
      list: FRESH_LIST,
      down: undefined,
      over: undefined,
      scroll: 0,
      audits: 0,
      trust: {},
      path: trustField([]),
    },
    subject: () => '',
    title: ({ over }) => {
      if (over === undefined) return `journal${stream === undefined ? '' : `: ${shortOf(stream)}`}`;
      if (over === 'audit') return 'verify the journal';
      return over === 'trust' ? 'verify against' : `entry ${over.index}`;
    },
    badge: (_, around) => badgeOfHome(around),
    isTyping: ({ list, over }) => over === 'trust' || list.isFiltering,
    keys: (state, around) =>
      keysOf(state, loaded(state, around), anchorIn(state, around), around.facts, isLocked(state, around)),
    needs: (state, around) => [
      { source: 'entries', of },
      ...loaded(state, around).wanted.map(
        (page) => ({ source: 'olderEntries', of: { ...of, page } }) as const,
      ),
      ...(state.audits === 0 ? [] : [{ source: 'audit', of: auditOf(state) } as const]),
      ...(state.over === 'trust' ? pathNeeds(state.path) : []),
    ],
    reduce,
    layOut: (state, around, look) => {
      if (state.over === undefined) return listLayout(state, around, look);
      if (state.over === 'trust') return trustLayout(state.path, around, look);
      return textLayout(state, state.over, around, look);
    },
  });
}

function reduce(
  state: JournalState,
  input: Input<Intent>,
  around: Around,
): ReturnType<Parameters<typeof screen<JournalState, Intent>>[0]['reduce']> {
  if (state.over === 'trust') return [withField(state, input)];
  if (input.type === 'text') return [{ ...state, list: typedInto(state.list, input.text) }];
  const { rows, oldest } = loaded(state, around);
  const keys = rows.map(keyOf);
  const at = cursorAt(state.list, keys);
  const { intent, page } = input;
  if (state.over !== undefined && isReadingIntent(intent))
    return [{ ...state, scroll: scrolledTo(state.scroll, intent, page) }];
  if (isListIntent(intent)) {
    const list = moved(state.list, intent, keys, page.height);
    const isNearEnd = cursorAt(list, keys) >= keys.length - NEAR && !state.list.isFiltering;
    const isDown = intent === 'down' || intent === 'page-down' || intent === 'last';
    return [{ ...state, list, down: isDown && isNearEnd && oldest > 0 ? oldest - 1 : state.down }];
  }
  const over = (next: JournalState['over']): JournalState => ({ ...state, over: next, scroll: 0 });
  const beside = (by: 1 | -1): JournalState => {
    const row = rows[at + by];
    return row === undefined ? state : { ...over(row), list: { ...state.list, cursor: keyOf(row) } };
  };
  switch (intent) {
    case 'open':
      return [over(rows[at])];
    case 'close':
      return [over(undefined)];
    case 'older':
      return [beside(1)];
    case 'newer':
      return [beside(-1)];
    case 'verify':
      return [{ ...over('audit'), audits: state.audits + 1 }];
    case 'unlock':
      return [{ ...over('audit'), audits: state.audits + 1 }, { type: 'unlock' }];
    case 'verify-against':
      return [{ ...over('trust'), path: trustField(state.path.given) }];
    case 'anchor':
      return [state, { type: 'copy', text: anchorIn(state, around) ?? '', what: 'the anchor of the log' }];
    case 'copy': {
      const row = typeof state.over === 'string' ? undefined : state.over;
      return row === undefined || row.body.length > LARGEST_COPY
        ? [state]
        : [state, { type: 'copy', text: row.body, what: `the body of entry ${row.index}` }];
    }
    default:
      return [state];
  }
}

/** The field is left for the audit, or for what was there before it. */
function withField(state: JournalState, input: Input<Intent>): JournalState {
  const { path, trust, audits } = state;
  const intent = input.type === 'intent' ? input.intent : undefined;
  if (intent === 'close') return { ...state, over: audits === 0 ? undefined : 'audit' };
  if (intent !== 'take') return { ...state, path: pathAfter(path, input) };
  return {
    ...state,
    over: 'audit',
    scroll: 0,
    audits: audits + 1,
    trust: withTrust(trust, path),
    path: trustField(givenWith(path)),
  };
}

function isLocked(state: JournalState, { facts }: Around): boolean {
  return facts.get('audit', auditOf(state)).last?.value.isLocked ?? false;
}

function auditOf({ audits, trust }: JournalState): AuditWanted {
  return { attempt: audits, ...trust };
}

function listLayout(state: JournalState, around: Around, look: Look): Layout {
  const { columns } = around.size;
  const { list } = state;
  const found = loaded(state, around);
  const newest = around.facts.get('entries', state.of);
  const head = [
    cutLine([span(headOf(newest.last?.value.size, found, list), 'text.dim')], columns, look),
    ...filterLines(list, columns, look),
  ];
  const problem = newest.part.state === 'failed' ? newest.part.why : undefined;
  const table = {
    columns: columnsOf(state.of),
    rows: found.rows,
    cursor: cursorAt(list, found.rows.map(keyOf)),
    empty: problem ?? (found.isLoading ? 'reading the journal' : 'nothing is on record here'),
  };
  return tableBody(table, around.size, look, { above: head });
}

function textLayout(state: JournalState, over: EntryRow | 'audit', around: Around, look: Look): Layout {
  const { columns } = around.size;
  const lines =
    over === 'audit'
      ? auditLines(around.facts.get('audit', auditOf(state)), state.trust, columns)
      : wholeEntry(over, columns, look);
  return scrolledBody(lines, state.scroll, around.size, look);
}

/** A body of a megabyte is broken into rows once, not at each frame. */
const wholeEntry = memoised((row: EntryRow, width: number, look: Look): readonly Line[] => [
  ...entryLines(row, width, look),
  BLANK,
]);

function headOf(size: number | undefined, { isAll, isFull, isLoading }: Loaded, list: ListState): string {
  if (size === undefined) return '';
  const total = `${counted(size, 'entry', 'entries')}, the newest first`;
  if (isFull) return `${total}; \`lifeboat audit show\` prints those that are older than these`;
  if (list.filter.text !== '' && !isAll)
    return `${total}; ${isLoading ? 'searching older ones' : 'scroll down to search older ones'}`;
  return total;
}

function columnsOf({ stream }: EntriesWanted) {
  return [
    {
      title: stream === undefined ? 'leaf' : 'entry',
      align: 'right' as const,
      cell: ({ index, seq }: EntryRow): Line => [
        span(String(stream === undefined ? index : seq), 'text.dim'),
      ],
      drop: 3,
    },
    { title: 'at (UTC)', cell: ({ at }: EntryRow): Line => [span(at)], drop: 1 },
    ...(stream === undefined
      ? [{ title: 'stream', cell: (row: EntryRow): Line => [span(shortOf(row.stream))], least: 12, drop: 2 }]
      : []),
    { title: 'by', cell: ({ by }: EntryRow): Line => [span(by)], least: 6, drop: 5 },
    { title: 'type', cell: ({ type }: EntryRow): Line => [span(type, 'text.dim')], drop: 4 },
    { title: 'what', cell: ({ sentence }: EntryRow): Line => [span(sentence)], least: 40 },
  ];
}

/** A run is known by the beginning of its id, as in the list of runs. */
function shortOf(stream: string): string {
  return stream.startsWith('run/') ? stream.slice(0, 'run/'.length + 10) : stream;
}

function keyOf({ index }: EntryRow): string {
  return String(index);
}

function loaded({ of, down, list }: JournalState, { facts }: Around): Loaded {
  return loadedOf(of, down, list, facts);
}

function anchorIn({ of }: JournalState, { facts }: Around): string | undefined {
  return facts.get('entries', of).last?.value.anchor;
}
