import { counted } from '../../../base/format.ts';
import {
  ENTRIES_A_PAGE,
  type EntriesPage,
  type EntriesWanted,
  type EntryRow,
} from '../../../view/app/entries-page.ts';
import type { AuditTrust, AuditWanted, Facts } from '../../../view/app/sources.ts';
import { type Layout, scrolledBody } from '../../bands.ts';
import { cutLine, memoised } from '../../line.ts';
import { type Around, type BoundKey, footerKey, type Input, type ScreenRequest } from '../../live-screen.ts';
import { badgeOfHome, type OpenScreen, screen } from '../../module-screen.ts';
import {
  BACK_KEY,
  cursorAt,
  FRESH_LIST,
  filtered,
  filterLines,
  isListIntent,
  type ListIntent,
  type ListState,
  listKeys,
  moved,
  typedInto,
} from '../../parts/list.ts';
import { givenWith, type PathField, pathAfter, pathNeeds } from '../../parts/path-field.ts';
import { isReadingIntent, READING_KEYS, type ReadingIntent, scrolledTo } from '../../parts/reading.ts';
import { tableBody } from '../../parts/table.ts';
import { BLANK, type Line, type Look, span } from '../../span.ts';
import {
  auditLines,
  entryLines,
  type TrustIntent,
  trustField,
  trustKeys,
  trustLayout,
  withTrust,
} from './texts.ts';

interface JournalState {
  readonly of: EntriesWanted;
  readonly list: ListState;
  /** The oldest page scrolled to; undefined while the newest ones are enough. */
  readonly down: number | undefined;
  /** What covers the list: an entry in full, the audit, or the field for what to verify it against. */
  readonly over: EntryRow | 'audit' | 'trust' | undefined;
  readonly scroll: number;
  readonly audits: number;
  /** What audits verify against, besides the checkpoints that the journal itself names. */
  readonly trust: AuditTrust;
  readonly path: PathField;
}

/** The next page is requested this many rows before the end. */
const NEAR = 40;

/** The journal or one stream of it, the newest entry first; new entries appear by themselves. */
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

/** Input to the field; leaving it returns to the audit or to the list. */
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

/** Memoised, because wrapping a body of a megabyte for each frame is slow. */
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

/** Runs are shown by the beginning of their id, as in the list of runs. */
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

type Intent =
  | 'open'
  | 'close'
  | 'older'
  | 'newer'
  | 'verify'
  | 'verify-against'
  | 'unlock'
  | 'anchor'
  | 'copy'
  | TrustIntent
  | ListIntent
  | ReadingIntent;

/** Terminals do not copy longer texts (in characters). */
const LARGEST_COPY = 50_000;

/** The keys of the journal. `anchor` pins the log as it is shown. */
function keysOf(
  { list, over, path }: JournalState,
  { rows }: Loaded,
  anchor: string | undefined,
  facts: Facts,
  isLocked: boolean,
): readonly BoundKey<Intent>[] {
  if (over === 'trust') return [...trustKeys(path, facts), LEAVE_FIELD];
  if (over === 'audit') {
    const unlock = {
      ...UNLOCK,
      inFooter: isLocked,
      ...(isLocked ? {} : { disabled: 'the vault file is not locked' }),
    };
    return [{ ...VERIFY, label: 'verify again' }, unlock, AGAINST, ...READING_KEYS, CLOSE];
  }
  if (over !== undefined)
    return [
      {
        ...COPY,
        disabled: over.body.length > LARGEST_COPY ? 'the body is too long for the clipboard' : undefined,
      },
      OLDER,
      NEWER,
      ...READING_KEYS,
      CLOSE,
    ];
  if (list.isFiltering) return listKeys(list);
  const none = rows.length === 0 ? 'there is no entry here' : undefined;
  return [
    { ...OPEN, disabled: none },
    { ...VERIFY, disabled: none },
    { ...AGAINST, disabled: none },
    { ...ANCHOR, disabled: anchor === undefined ? 'nothing is on record yet' : undefined },
    ...listKeys(list),
    ...(list.filter.text === '' ? [BACK_KEY] : []),
  ];
}

const OPEN: BoundKey<Intent> = footerKey(
  'enter',
  'open',
  'in full',
  'show the entry in full, with its body and hash',
);
const VERIFY: BoundKey<Intent> = footerKey(
  'v',
  'verify',
  'verify',
  'recompute the whole log and compare it with its checkpoints, as `lifeboat audit verify` does',
);
const AGAINST: BoundKey<Intent> = footerKey(
  'p',
  'verify-against',
  'verify against',
  'also verify the log against a public key from a file, or an anchor from a ticket',
);
const UNLOCK: BoundKey<Intent> = footerKey(
  'o',
  'unlock',
  'passphrase',
  'enter the passphrase of the vault file, and verify against its signing key',
);
const ANCHOR: BoundKey<Intent> = footerKey(
  'a',
  'anchor',
  'copy anchor',
  'copy the anchor for a ticket: one line that pins everything up to now',
);
const COPY: BoundKey<Intent> = footerKey('y', 'copy', 'copy body', 'copy the body as JSON');
const OLDER: BoundKey<Intent> = {
  intent: 'older',
  keys: ['n', 'right'],
  shown: 'n/p',
  label: 'next',
  description: 'show the next row of the list, or the previous one (also the arrows right and left)',
  inFooter: true,
};
const NEWER: BoundKey<Intent> = {
  intent: 'newer',
  keys: ['p', 'left'],
  shown: '',
  label: '',
  description: 'show the previous row of the list',
  inFooter: false,
};
const CLOSE: BoundKey<Intent> = footerKey(
  ['escape', 'q', 'enter'],
  'close',
  'back to the list',
  'go back to the list',
);
/** In a field, letters are text. */
const LEAVE_FIELD: BoundKey<Intent> = {
  ...CLOSE,
  keys: ['escape', 'ctrl+c'],
  label: 'back',
  description: 'go back; nothing is verified',
};

/** `lifeboat audit show` prints the rest. */
const MAX_PAGES = 100;

/** A filter with fewer matches than this searches older pages by itself. */
const ENOUGH = 100;

/** The loaded part of the journal, and the pages to load. */
interface Loaded {
  /** Entries that match the filter, the newest first. */
  readonly rows: readonly EntryRow[];
  /** The older pages to keep loaded. */
  readonly wanted: readonly number[];
  /** The oldest page that is loaded or wanted. */
  readonly oldest: number;
  readonly isLoading: boolean;
  /** Whether the oldest row is the first entry of all. */
  readonly isAll: boolean;
  /** Whether there are older entries, but the page limit is reached. */
  readonly isFull: boolean;
}

/** `down` is the oldest page scrolled to; a filter loads more, one by one, until it has enough matches. */
function loadedOf(of: EntriesWanted, down: number | undefined, list: ListState, facts: Facts): Loaded {
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

/** Caches the matches of a page, so that it is not searched for each frame. */
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
