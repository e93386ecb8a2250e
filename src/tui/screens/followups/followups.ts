import { isNoReason, noReasonWords } from '../../../base/reason.ts';
import { briefly, dueWords, leftToRun, runGoesOnWords, wordOf } from '../../../view/follow-up-words.ts';
import type { FollowUpRow } from '../../../view/view-follow-ups.ts';
import { wrapLine } from '../../line.ts';
import { type AppEffect, type Around, type BoundKey, footerKey, type Input } from '../../live-screen.ts';
import { badgeOfHome, type OpenScreen, screen } from '../../module-screen.ts';
import {
  EDITING_KEYS,
  EMPTY_FIELD,
  type Field,
  type FieldIntent,
  fieldAfter,
  fieldLine,
  PALETTE_KEY,
} from '../../parts/field.ts';
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
  placed,
  typedInto,
} from '../../parts/list.ts';
import { type Column, tableBody } from '../../parts/table.ts';
import { type Line, type Look, span } from '../../span.ts';
import { tokenOf } from '../../theme.ts';
import { followUpDetail } from '../run/parts/follow-ups.ts';

type Intent =
  | 'open'
  | 'do'
  | 'done'
  | 'skip'
  | 'copy'
  | 'journal'
  | 'take'
  | 'close'
  | ListIntent
  | FieldIntent;

interface Closing {
  readonly how: 'done' | 'skip';
  readonly row: FollowUpRow;
  readonly field: Field;
}

interface State {
  readonly list: ListState;
  readonly closing?: Closing;
}

/** The open work of all recoveries, in open runs and in ledgers: to do, close or skip it. */
export function followUpsScreen(): OpenScreen {
  return screen<State, Intent>({
    init: { list: FRESH_LIST },
    subject: () => '',
    title: () => 'follow-ups',
    badge: (_, around) => badgeOfHome(around),
    isTyping: ({ list, closing }) => closing !== undefined || list.isFiltering,
    keys: ({ list, closing }, around) =>
      closing === undefined ? keysOf(list, rowHere(list, around)) : closingKeys(closing),
    needs: () => [{ source: 'followUps', of: null }],
    reduce: (state, input, around) =>
      state.closing === undefined
        ? reduceList(state, input, around)
        : reduceField(state, state.closing, input, around),
    shown: (state, around) => ({
      ...state,
      list: placed(state.list, rowsOf(state.list, around).map(wordOf)),
    }),
    layOut: ({ list, closing }, around, look) => {
      const { columns } = around.size;
      const rows = rowsOf(list, around);
      const { part, last } = around.facts.get('followUps', null);
      const here = rowHere(list, around);
      const unread =
        part.state === 'failed' ? `the journal cannot be read: ${part.why}` : 'reading the journal';
      const none = list.filter.text === '' ? 'there are no open follow-ups' : 'no follow-up fits the filter';
      const filter = filterLines(list, columns, look, { shown: rows.length, all: last?.value.length ?? 0 });
      const table = {
        columns: COLUMNS,
        rows,
        cursor: cursorAt(list, rows.map(wordOf)),
        empty: last === undefined ? unread : none,
      };
      const room = Math.max(0, Math.floor(around.size.rows / 2));
      const below =
        closing === undefined
          ? detailOf(here, nextOf(here, around), columns).slice(0, room)
          : closingLines(closing, nextOf(closing.row, around), columns, look).slice(0, room);
      return tableBody(table, around.size, look, { above: filter, below });
    },
  });
}

function reduceList(state: State, input: Input<Intent>, around: Around): readonly [State, ...AppEffect[]] {
  const { list } = state;
  if (input.type === 'text') return [{ ...state, list: typedInto(list, input.text) }];
  const { intent, page } = input;
  if (isListIntent(intent))
    return [{ ...state, list: moved(list, intent, rowsOf(list, around).map(wordOf), page.height) }];
  const row = rowHere(list, around);
  if (row === undefined) return [state];
  switch (intent) {
    case 'open':
      return row.run === undefined ? [state] : [state, { type: 'resume', runId: row.run }];
    case 'do':
      return [state, { type: 'errand', errand: { do: 'follow-up', id: wordOf(row) } }];
    case 'done':
    case 'skip':
      return [{ ...state, closing: { how: intent, row, field: EMPTY_FIELD } }];
    case 'copy': {
      const [first] = row.commands;
      return first === undefined
        ? [state]
        : [state, { type: 'copy', text: row.commands.join('\n'), what: `how to ${row.what}` }];
    }
    case 'journal': {
      const stream = row.run === undefined ? `instance/${row.instance}` : `run/${row.run}`;
      return [state, { type: 'open', screen: { name: 'journal', stream } }];
    }
    default:
      return [state];
  }
}

function reduceField(
  state: State,
  closing: Closing,
  input: Input<Intent>,
  around: Around,
): readonly [State, ...AppEffect[]] {
  const { how, row, field } = closing;
  const { closing: _, ...left } = state;
  switch (input.type === 'text' ? undefined : input.intent) {
    case 'close':
      return [left];
    case 'take':
      return [
        { ...left, list: beside(left.list, wordOf(row), around) },
        {
          type: 'errand',
          errand: { do: 'close-follow-up', id: wordOf(row), how, text: field.text.trim() },
        },
      ];
    default:
      return [{ ...state, closing: { ...closing, field: fieldAfter(field, input) } }];
  }
}

/** Moves the cursor next to a row that is about to go. */
function beside(list: ListState, gone: string, around: Around): ListState {
  const keys = rowsOf(list, around).map(wordOf);
  const at = keys.indexOf(gone);
  return { ...list, cursor: keys[at + 1] ?? keys[at - 1] ?? list.cursor };
}

function rowsOf(list: ListState, { facts }: Pick<Around, 'facts'>): readonly FollowUpRow[] {
  const known = facts.get('followUps', null).last?.value ?? [];
  return filtered(known, list, (row) =>
    [
      row.what,
      row.id,
      row.kind,
      row.subject,
      row.instance,
      row.owner,
      row.run,
      row.runbook,
      dueWords(row).text,
    ].join(' '),
  );
}

function rowHere(list: ListState, around: Pick<Around, 'facts'>): FollowUpRow | undefined {
  const rows = rowsOf(list, around);
  return rows[cursorAt(list, rows.map(wordOf))];
}

const COLUMNS: readonly Column<FollowUpRow>[] = [
  { title: 'what', cell: ({ what }) => [span(what)], least: 36 },
  { title: 'instance', cell: ({ instance }) => [span(instance)], least: 12 },
  {
    title: 'due',
    cell: (row) => {
      const { text, tone } = dueWords(row);
      return [span(text, tokenOf(tone))];
    },
  },
  {
    title: 'open for',
    cell: ({ age }) => [span(age === undefined ? '?' : briefly(age))],
    align: 'right',
    drop: 1,
  },
  { title: 'owner', cell: ({ owner }) => [span(owner)], drop: 2, least: 6 },
  {
    title: 'run',
    cell: ({ run }) => [span(run === undefined ? 'in its ledger' : run.slice(0, 10), 'text.dim')],
    drop: 3,
  },
];

/** What the run does by itself once this follow-up is closed. */
function nextOf(row: FollowUpRow | undefined, { facts }: Pick<Around, 'facts'>): readonly FollowUpRow[] {
  if (row?.run === undefined) return [];
  const known = facts.get('followUps', null).last?.value ?? [];
  return leftToRun(known.filter(({ run, id }) => run === row.run && id !== row.id));
}

function nextLines(next: readonly FollowUpRow[], width: number): readonly Line[] {
  return next.length === 0 ? [] : wrapLine([span(`  ${runGoesOnWords(next)}`, 'status.warn')], width, 2);
}

function detailOf(
  row: FollowUpRow | undefined,
  next: readonly FollowUpRow[],
  width: number,
): readonly Line[] {
  if (row === undefined) return [];
  const where =
    row.run === undefined
      ? `  in the ledger of ${row.instance}: its run is over`
      : `  run ${row.run} (${row.runbook ?? '?'}) stays open until it is closed`;
  return [
    ...wrapLine([span(where, 'text.dim')], width, 2),
    ...nextLines(next, width),
    ...followUpDetail(row, true, width),
  ];
}

function closingLines(
  { how, row, field }: Closing,
  next: readonly FollowUpRow[],
  width: number,
  look: Look,
): readonly Line[] {
  const asks =
    how === 'done'
      ? 'what shows that it was done? The proof goes into the report'
      : 'why is it left undone? The reason stays in the report';
  return [
    ...wrapLine([span(row.what, 'text.strong')], width, 2),
    ...nextLines(next, width),
    ...wrapLine([span(asks)], width, 2),
    fieldLine(how === 'done' ? 'proof: ' : 'reason: ', field, width, look),
  ];
}

function keysOf(list: ListState, row: FollowUpRow | undefined): readonly BoundKey<Intent>[] {
  if (list.isFiltering) return listKeys(list);
  const none = row === undefined ? 'there is no follow-up here' : undefined;
  const inLedger =
    row?.run === undefined ? 'its run is over: d closes it with a proof, x skips it' : undefined;
  const byHand = row?.doable === undefined ? 'nothing here can do it: d closes it with a proof' : undefined;
  return [
    { ...OPEN, disabled: none ?? inLedger },
    { ...DO, disabled: none ?? byHand },
    { ...DONE, disabled: none },
    { ...SKIP, disabled: none },
    { ...COPY, disabled: none ?? (row?.commands.length === 0 ? 'it names no command' : undefined) },
    { ...JOURNAL, disabled: none },
    ...listKeys(list),
    ...(list.filter.text === '' ? [BACK_KEY] : []),
  ];
}

function closingKeys({ how, field }: Closing): readonly BoundKey<Intent>[] {
  const text = field.text.trim();
  const missing = how === 'done' ? 'type the proof first' : 'type a reason first';
  const problem =
    text === '' ? missing : how === 'skip' && isNoReason(text) ? noReasonWords(text) : undefined;
  return [
    {
      ...footerKey(
        'enter',
        'take',
        how === 'done' ? 'close it' : 'skip it',
        'close the follow-up with these words',
      ),
      disabled: problem,
    },
    PALETTE_KEY,
    ...EDITING_KEYS,
    footerKey(['escape', 'ctrl+c'], 'close', 'back', 'go back; the follow-up stays open'),
  ];
}

const OPEN: BoundKey<Intent> = footerKey(
  'enter',
  'open',
  'go to its run',
  'resume the run of the follow-up, which can do it or have the platform do it',
);
const DO: BoundKey<Intent> = footerKey('p', 'do', 'do it', 'have the platform, or its run, do it now');
const DONE: BoundKey<Intent> = footerKey('d', 'done', 'done', 'close it: you did it by hand, with a proof');
const SKIP: BoundKey<Intent> = footerKey('x', 'skip', 'skip', 'leave it undone, with a reason');
const COPY: BoundKey<Intent> = footerKey('y', 'copy', 'copy commands', 'copy the commands that do it');
const JOURNAL: BoundKey<Intent> = footerKey('e', 'journal', 'entries', 'show what the journal has about it');
