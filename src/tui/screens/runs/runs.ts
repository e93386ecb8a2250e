import { formatElapsed, formatTime } from '../../../base/format.ts';
import { show } from '../../../base/text.ts';
import { type RunRow, secondsOfRun } from '../../../view/app/sources.ts';
import { wrapLine } from '../../line.ts';
import { type Around, type BoundKey, footerKey, type ScreenRequest } from '../../live-screen.ts';
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
  placed,
  typedInto,
} from '../../parts/list.ts';
import { tableBody } from '../../parts/table.ts';
import { type Line, type Span, span } from '../../span.ts';
import type { Token } from '../../theme.ts';

type Intent = 'open' | 'watch' | 'report' | 'journal' | 'copy' | 'drills' | ListIntent;

interface State {
  readonly list: ListState;
  /** Whether the runs of drills are shown instead of those of this home. */
  readonly isDrills: boolean;
}

/** All runs, the newest first: to resume, watch and read them. */
export function runsScreen(): OpenScreen {
  return screen<State, Intent>({
    init: { list: FRESH_LIST, isDrills: false },
    subject: () => '',
    title: ({ isDrills }) => (isDrills ? 'runs of drills' : 'runs'),
    badge: ({ isDrills }, around) => (isDrills ? 'REHEARSAL' : badgeOfHome(around)),
    isTyping: ({ list }) => list.isFiltering,
    keys: (state, around) => keysOf(state.list, state.isDrills, atCursor(state, around)),
    needs: ({ isDrills }) => [{ source: isDrills ? 'drillRuns' : 'runs', of: null }],
    reduce: (state, input, around) => {
      const { list, isDrills } = state;
      if (input.type === 'text') return [{ ...state, list: typedInto(list, input.text) }];
      const keys = rowsOf(state, around).map(keyOf);
      if (isListIntent(input.intent))
        return [{ ...state, list: moved(list, input.intent, keys, input.page.height) }];
      if (input.intent === 'drills') return [{ list: FRESH_LIST, isDrills: !isDrills }];
      const run = atCursor(state, around);
      if (run === undefined) return [state];
      const { runId } = run;
      const open = (request: ScreenRequest) => [state, { type: 'open', screen: request }] as const;
      switch (input.intent) {
        case 'open':
          return run.status === 'open' ? [state, { type: 'resume', runId }] : open({ name: 'report', runId });
        case 'watch':
          return open({ name: 'watch', runId });
        case 'report':
          return open({ name: 'report', runId });
        case 'journal':
          return open({ name: 'journal', stream: `run/${runId}` });
        case 'copy':
          return [state, { type: 'copy', text: runId, what: `run ${runId}` }];
        default:
          return [state];
      }
    },
    shown: (state, around) => ({ ...state, list: placed(state.list, rowsOf(state, around).map(keyOf)) }),
    layOut: (state, around, look) => {
      const { columns } = around.size;
      const { list, isDrills } = state;
      const rows = rowsOf(state, around);
      const all = around.facts.get(isDrills ? 'drillRuns' : 'runs', null).last?.value.length ?? 0;
      const filter = filterLines(list, columns, look, { shown: rows.length, all });
      const foot = footOf(atCursor(state, around))
        .flatMap((line) => wrapLine(line, columns, 2))
        .slice(0, 3);
      const { part, last } = around.facts.get(isDrills ? 'drillRuns' : 'runs', null);
      const none = isDrills ? 'there are no drills yet: try `lifeboat drill`' : 'there are no runs yet';
      const unread =
        part.state === 'failed' ? `the journal cannot be read: ${part.why}` : 'reading the journal';
      const table = {
        columns: columnsAt(around.now),
        rows,
        cursor: cursorAt(list, rows.map(keyOf)),
        empty: last === undefined ? unread : list.filter.text === '' ? none : 'no run fits the filter',
      };
      return tableBody(table, around.size, look, { above: filter, below: foot });
    },
  });
}

function columnsAt(now: Date) {
  return [
    {
      title: 'run',
      cell: ({ runId }: RunRow): Line => [span(runId.slice(0, 10), 'text.strong')],
      // The full text is below the table, for the selected row.
      drop: 4,
    },
    {
      title: 'started UTC',
      cell: ({ startedAt }: RunRow): Line => [span(formatTime(startedAt).slice(5, 16))],
    },
    { title: 'runbook', cell: ({ runbook }: RunRow): Line => [span(runbook)], least: 17 },
    {
      title: 'instance',
      cell: ({ instance, target }: RunRow): Line => [
        span(target === undefined ? instance : `${instance} -> ${target}`),
      ],
      least: 21,
    },
    {
      title: 'mode',
      cell: ({ mode }: RunRow): Line => [span(mode, mode === 'LIVE' ? 'status.bad' : 'text')],
      drop: 3,
    },
    { title: 'by', cell: ({ by = '' }: RunRow): Line => [span(show(by, 40))], least: 8, drop: 1 },
    {
      title: 'took',
      align: 'right' as const,
      cell: (run: RunRow): Line => [span(formatElapsed(secondsOfRun(run, now)))],
      drop: 5,
    },
    { title: 'status', cell: (run: RunRow): Line => [statusOf(run)] },
    {
      title: 'follow-ups',
      align: 'right' as const,
      cell: ({ followUps }: RunRow): Line => [span(followUps === 0 ? '' : String(followUps), 'status.warn')],
      drop: 6,
    },
    { title: 'where', cell: ({ where }: RunRow): Line => [span(where)], least: 16, drop: 7 },
  ];
}

function statusOf({ status, result, heldBy }: RunRow): Span {
  if (result !== undefined) return span(result, RESULT_TOKENS[result]);
  if (status !== 'open') return span(status);
  return heldBy === undefined ? span('open', 'status.warn') : span('driven', 'accent');
}

const RESULT_TOKENS: Readonly<Record<NonNullable<RunRow['result']>, Token>> = {
  proven: 'status.ok',
  'not proven': 'status.bad',
  done: 'status.ok',
  stopped: 'status.warn',
  abandoned: 'status.warn',
};

function footOf(run: RunRow | undefined): readonly Line[] {
  if (run === undefined) return [];
  const { runId, runbook, instance, target, status, heldBy, drill, where, followUps, startedAt, by } = run;
  const on = target === undefined ? instance : `${instance} into ${target}`;
  const driven = heldBy === undefined ? 'no process drives it: Enter resumes it' : `driven by ${heldBy}`;
  const begun = by === undefined ? '' : ` by ${show(by, 40)}`;
  const open = followUps === 0 ? '' : `; open follow-ups: ${followUps}`;
  return [
    [
      span(`run ${runId}`, 'text.strong'),
      span(`, ${runbook} of ${on}, started ${formatTime(startedAt)} UTC${begun}: ${where}${open}`),
    ],
    ...(drill === undefined
      ? status === 'open'
        ? [[span(driven)]]
        : []
      : [[span(`of the drill ${drill}`, 'text.dim')]]),
  ];
}

function keyOf({ runId }: RunRow): string {
  return runId;
}

function rowsOf({ list, isDrills }: State, { facts }: Around): readonly RunRow[] {
  const known = facts.get(isDrills ? 'drillRuns' : 'runs', null).last?.value ?? [];
  return filtered(known, list, (run) =>
    [
      run.runId,
      run.runbook,
      run.instance,
      run.target,
      run.mode,
      run.by,
      statusOf(run).text,
      run.status,
      run.where,
    ].join(' '),
  );
}

function atCursor(state: State, around: Around): RunRow | undefined {
  const rows = rowsOf(state, around);
  return rows[cursorAt(state.list, rows.map(keyOf))];
}

function keysOf(list: ListState, isDrills: boolean, run: RunRow | undefined): readonly BoundKey<Intent>[] {
  if (list.isFiltering) return listKeys(list);
  const none = run === undefined ? 'there is no run here' : undefined;
  return [
    { ...OPEN, ...whatEnterDoes(run), disabled: none ?? whyNotOpened(run) },
    { ...WATCH, disabled: none },
    { ...REPORT, disabled: none, inFooter: run?.status === 'open' },
    { ...JOURNAL, disabled: none ?? (isDrills ? 'the journal of a drill is in its own folder' : undefined) },
    { ...DRILLS, label: isDrills ? 'own runs' : 'drills' },
    { ...COPY, disabled: none },
    ...listKeys(list),
    ...(list.filter.text === '' ? [BACK_KEY] : []),
  ];
}

function whatEnterDoes(run: RunRow | undefined) {
  if (run === undefined || run.status === 'open') return {};
  return { label: 'report', description: 'read the report of the run, which is over' };
}

function whyNotOpened(run: RunRow | undefined): string | undefined {
  if (run?.status !== 'open') return undefined;
  if (run.drill !== undefined) return 'this is a run of a drill, and its lab is gone';
  return run.heldBy === undefined ? undefined : `driven by ${run.heldBy}: w watches it`;
}

const OPEN: BoundKey<Intent> = footerKey(
  'enter',
  'open',
  'resume',
  'resume the run; it first asks the service what became of the last call',
);
const WATCH: BoundKey<Intent> = footerKey('w', 'watch', 'watch', 'watch the run without taking it over');
const REPORT: BoundKey<Intent> = footerKey('r', 'report', 'report', 'read the report of the run');
const JOURNAL: BoundKey<Intent> = footerKey(
  'e',
  'journal',
  'entries',
  'show the entries of the run in the journal',
);
const DRILLS: BoundKey<Intent> = footerKey(
  'd',
  'drills',
  'drills',
  'switch between the runs of this home and those of drills',
);
const COPY: BoundKey<Intent> = {
  intent: 'copy',
  keys: ['y'],
  shown: 'y',
  label: 'copy id',
  description: 'copy the id of the run',
  inFooter: false,
};
