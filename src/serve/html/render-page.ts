import { formatSpan, formatTime } from '../../base/format.ts';
import { DRILL_WORDS, dueWords, futureDrillWords } from '../../report/drill/drill-report.ts';
import { type Markup, markup, NOTHING } from '../../report/render/markup.ts';
import type { PageOf, Tone } from '../page.ts';
import {
  asksPart,
  changesPart,
  clocksPart,
  followUpsPart,
  marked,
  runsTable,
  section,
  table,
  verdictsTable,
  when,
  words,
} from './parts.ts';
import { type Delivery, shell } from './shell.ts';

/** How many runs the board lists that are open, and that are over. */
const [OPEN, ENDED] = [12, 5];

/** The evaluations on the board, and on their own page. */
const [ON_BOARD, ON_PAGE] = [10, 30];

export function renderBoard(page: PageOf<'page-board'>, delivery: Delivery): string {
  const { runs, ended, at } = page;
  const open =
    runs.length === 0
      ? markup`<p>No run is open.</p>`
      : runsTable('runs', 'Open runs', runs, { now: at, most: OPEN });
  const over =
    ended.length === 0
      ? markup`<p>None is on record.</p>`
      : runsTable('ended', 'Newest first', ended, { now: at, most: ENDED });
  return shell(
    page,
    [
      asksPart(page),
      section('runs', 'Under way', open),
      section('verdicts', 'Recoverable now?', verdicts(page, { now: at, most: ON_BOARD })),
      followUpsPart(page),
      changesPart(page),
      section(
        'drills',
        'Drills',
        markup`<p>Next due: ${dueWords(page.drills)}. <a href="/drills">All drills</a></p>`,
      ),
      section('ended', 'Over', over),
    ],
    delivery,
  );
}

export function renderEvaluation(page: PageOf<'page-evaluation'>, delivery: Delivery): string {
  const { at } = page;
  const findings = page.verdicts.flatMap(({ subject, findings: of }) =>
    of.map((one) => ({ subject, ...one })),
  );
  const rows = findings.map(({ subject, check, state, reason, owner, due, waivedUntil }) => [
    markup`${subject}`,
    state === 'red' ? marked('✗', `${check}: red`, 'bad') : marked('?', `${check}: unknown`, 'warn'),
    words(reason),
    markup`${owner ?? ''}`,
    waivedUntil === undefined ? when(due, at) : markup`waived until ${formatTime(waivedUntil)} UTC`,
  ]);
  const list =
    rows.length === 0
      ? markup`<p>No finding is open.</p>`
      : table('findings', 'Open findings', ['subject', 'check', 'reason', 'owner', 'due'], rows);
  return shell(
    page,
    [
      section('verdicts', 'Verdicts', verdicts(page, { now: at, most: ON_PAGE })),
      section('findings', 'Findings', list),
    ],
    delivery,
  );
}

function verdicts(
  page: Pick<PageOf<'page-evaluation'>, 'verdicts' | 'unevaluated'>,
  room: { readonly now: string; readonly most: number },
): Markup {
  if (page.verdicts.length + page.unevaluated.length === 0)
    return markup`<p>Nothing is evaluated: <code>${'lifeboat plans evaluate'}</code> does it.</p>`;
  return markup`${verdictsTable(page, room)}<p>From the record: this page asks no instance.</p>`;
}

export function renderRun(page: PageOf<'page-run'>, delivery: Delivery): string {
  const { run, steps, facts, trouble, doing, at } = page;
  const rows = steps.map(({ title, state, seconds, note }) => [
    words(title),
    marked(...STEPS[state]),
    seconds === undefined ? NOTHING : markup`${formatSpan(seconds)}`,
    note === undefined ? NOTHING : words(note),
  ]);
  const now = [
    ...(trouble === undefined ? [] : [markup`<p class="bad"><b>${words(trouble)}</b></p>`]),
    ...(doing === undefined ? [] : [markup`<p>Under way: ${words(doing)}</p>`]),
    markup`<p>Run ${run.runId}, begun ${when(run.startedAt, at)}. <a href="/runs/${encodeURIComponent(run.runId)}/report">Report</a></p>`,
  ];
  const known = facts.map(({ label, value }) => [markup`${label}`, words(value)]);
  return shell(
    page,
    [
      clocksPart(page),
      asksPart(page),
      section('now', 'Now', now),
      section('steps', 'Steps', table('steps', 'In order', ['step', 'state', 'time', 'note'], rows)),
      followUpsPart(page),
      changesPart(page),
      known.length === 0
        ? NOTHING
        : section('facts', 'Facts', table('facts', 'By the record', ['what', 'value'], known)),
    ],
    delivery,
  );
}

const STEPS: Readonly<
  Record<PageOf<'page-run'>['steps'][number]['state'], readonly [mark: string, word: string, tone: Tone]>
> = {
  done: ['✓', 'done', 'good'],
  open: ['◆', 'open', 'warn'],
  current: ['▶', 'current', 'plain'],
  ahead: ['·', 'ahead', 'dim'],
  skipped: ['–', 'skipped', 'warn'],
  failed: ['✗', 'failed', 'bad'],
};

export function renderDrills(page: PageOf<'page-drills'>, delivery: Delivery): string {
  const { due, drills, rehearsals, at } = page;
  const future = futureDrillWords(due);
  const rows = drills.map(({ id, scope, outcome, at: of, chapters, proven }) => [
    markup`${id}`,
    outcome === 'proven'
      ? marked('✓', 'proven', 'good')
      : marked(
          outcome === 'running' ? '▶' : '✗',
          outcome === 'running' ? 'under way' : DRILL_WORDS[outcome],
          'warn',
        ),
    markup`${scope}`,
    markup`${proven} of ${chapters}`,
    when(of, at),
  ]);
  const made =
    rows.length === 0
      ? markup`<p>None is on record in this home.</p>`
      : table('drills', 'Newest first', ['drill', 'outcome', 'scope', 'chapters proven', 'when'], rows);
  const clock = rehearsals.map(({ name, does, next, lastRan }) => [
    markup`${name}`,
    markup`${does}`,
    when(next, at),
    when(lastRan, at),
  ]);
  const planned =
    clock.length === 0
      ? markup`<p>No schedule is in lifeboat.yaml.</p>`
      : table('schedules', 'What workers do', ['schedule', 'does', 'next', 'last ran'], clock);
  return shell(
    page,
    [
      section(
        'due',
        'Due',
        markup`<p class="${due.isOverdue ? 'bad' : 'plain'}"><b>${dueWords(due)}</b></p>${future === undefined ? NOTHING : markup`<p>${future}</p>`}`,
      ),
      section('drills', 'Drills', made),
      section('schedules', 'By the clock', planned),
    ],
    delivery,
  );
}
