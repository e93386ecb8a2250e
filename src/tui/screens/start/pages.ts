import { formatSpan } from '../../../base/format.ts';
import { msOf } from '../../../base/instant.ts';
import type { StartStep } from '../../../view/app/situations.ts';
import { takesNewest } from '../../../view/app/start-wish.ts';
import { formatHere, formatUtc } from '../../../view/zone.ts';
import {
  band,
  filledUp,
  GAP,
  type Layout,
  scrolled,
  scrolledBody,
  WIDE,
  wall,
  wholeBody,
} from '../../bands.ts';
import { cutLine, lineWidth, ruleLine, wrapLine } from '../../line.ts';
import type { Around } from '../../live-screen.ts';
import { fieldLine } from '../../parts/field.ts';
import { cursorAt, filterLines } from '../../parts/list.ts';
import { tableLines } from '../../parts/table.ts';
import { BLANK, type Line, type Look, span } from '../../span.ts';
import { momentLines } from '../run/parts/moment.ts';
import { planLines, stakeLines } from './check.ts';
import { chosenRow, shownRows } from './keys.ts';
import { type ChoiceTable, tableOf } from './rows.ts';
import {
  backupName,
  chosenSituation,
  listOf,
  momentProblem,
  momentQuestion,
  notChosenYet,
  noWindowOf,
  pickerOf,
  type State,
  stepsFor,
  typedMoment,
} from './state.ts';

export function layOut(state: State, around: Around, look: Look): Layout {
  const { columns, rows } = around.size;
  const head = [...railLines(state, around, look), ...headLines(state, columns, rows, look)];
  const height = Math.max(0, rows - head.length);
  const body = bodyOf(state, around, { columns, rows: height }, look);
  return { page: body.page, bands: [band(head, columns), ...body.bands] };
}

type Size = Around['size'];

function bodyOf(state: State, around: Around, size: Size, look: Look): Layout {
  const table = tableOf(state, around);
  if (table !== undefined) return choosing(state, around, table, size, look);
  if (state.step === 'check') return checking(state, around, size, look);
  const lines =
    state.step === 'moment'
      ? pickingLines(state, around, size, look)
      : incidentLines(state, around, size, look);
  return wholeBody(lines, size);
}

const QUESTIONS: Readonly<Record<StartStep, string>> = {
  situation: 'what has happened, or what do you want to do?',
  instance: 'which instance is it about?',
  target: 'which instance receives the data? everything that it holds is replaced',
  backup: 'which backup do you want to restore?',
  incident: 'when did it happen?',
  moment: 'which moment do you want to go back to? everything after it is lost',
  check: 'what this run does, and what is at stake',
};

function headLines({ step }: State, width: number, rows: number, look: Look): readonly Line[] {
  const gap = rows < 14 ? [] : [BLANK];
  return [...gap, ...wrapLine([span(QUESTIONS[step], 'text.strong')], width, 2).slice(0, 2), ...gap].map(
    (line) => cutLine(line, width, look),
  );
}

const ASIDE = 46;

function choosing(state: State, around: Around, table: ChoiceTable, size: Size, look: Look): Layout {
  const isWide = size.columns >= WIDE;
  const width = isWide ? size.columns - ASIDE - GAP : size.columns;
  const details = detailLines(state, around, isWide ? ASIDE : width, look);
  const { rows, list } = shownRows(state, around);
  const keys = rows.map(({ key }) => key);
  const filter = filterLines(list, width, look);
  const status = [...causeLines(table, width, look), ...statusLines(state, around, width, look)];
  const below = isWide ? 0 : belowRows(details.length, size.rows);
  const room = Math.max(0, size.rows - below - filter.length - status.length);
  const { lines, pageRows } = tableLines(
    {
      columns: table.columns,
      rows,
      cursor: cursorAt(list, keys),
      empty: list.filter.text === '' ? table.empty : 'no row fits: Esc drops the filter',
    },
    width,
    room,
    look,
  );
  const page = { height: pageRows, last: 0 };
  const left = [...status, ...filter, ...lines];
  if (isWide) {
    const panes = [
      { width, height: size.rows, lines: filledUp(left, size.rows) },
      wall(size.rows, look),
      { width: ASIDE, height: size.rows, lines: filledUp(details, size.rows) },
    ];
    return { page, bands: [{ height: size.rows, panes }] };
  }
  const foot = below === 0 ? [] : [ruleLine('about this row', width, look), ...details];
  return wholeBody([...left, ...foot], size, page);
}

/** Height of the details below a table: as needed, but constant if there is room, so that nothing jumps. */
function belowRows(needed: number, rows: number): number {
  const steady = rows >= 16 ? 6 : 0;
  return Math.min(Math.max(needed + 1, steady), Math.max(0, rows - 3));
}

function detailLines(state: State, around: Around, width: number, look: Look): readonly Line[] {
  return (chosenRow(state, around)?.details() ?? []).flatMap(({ text, tone }) => {
    if (tone === 'plain') return wrapLine([span(`  ${text}`)], width, 2);
    const sign = tone === 'bad' ? look.glyphs.failed : look.glyphs.warn;
    return wrapLine([span(`${sign} ${text}`, tone === 'bad' ? 'status.bad' : 'status.warn')], width, 2);
  });
}

function causeLines({ cause }: ChoiceTable, width: number, look: Look): readonly Line[] {
  if (cause === undefined) return [];
  return wrapLine([span(`${look.glyphs.failed} ${cause}`, 'status.bad')], width, 2).slice(0, 3);
}

/** Shown while an answer is missing, or when it failed to arrive. */
function statusLines(state: State, around: Around, width: number, look: Look): readonly Line[] {
  if (state.step === 'situation') return [];
  if (state.step === 'backup') {
    const { part, last, isAsking } = listOf(state, around);
    if (part.state === 'failed')
      return [
        cutLine(
          [span(`${look.glyphs.failed} the backups cannot be listed: ${part.why}`, 'status.bad')],
          width,
          look,
        ),
      ];
    const isLate = last === undefined || (isAsking && last.value.rows.length === 0);
    return isLate ? wrapLine([span('asking the service for its backups', 'text.dim')], width) : [];
  }
  const fleet = around.facts.get('fleet', null);
  const { instances = [], answered = 0 } = fleet.last?.value ?? {};
  if (!fleet.isAsking || answered >= instances.length) return [];
  return [
    cutLine([span(`${answered} of ${instances.length} instances have answered`, 'text.dim')], width, look),
  ];
}

function checking(state: State, around: Around, size: Size, look: Look): Layout {
  const isWide = size.columns >= WIDE;
  if (!isWide) {
    const lines = [
      ...stakeLines(state, around, size.columns, look),
      BLANK,
      ...planLines(state, around, size.columns, look),
    ];
    return scrolledBody(lines, state.scroll, size, look);
  }
  const width = Math.floor((size.columns - GAP) / 2);
  const right = size.columns - GAP - width;
  const plan = scrolled(planLines(state, around, right, look), state.scroll, right, size.rows, look);
  const panes = [
    { width, height: size.rows, lines: filledUp(stakeLines(state, around, width, look), size.rows) },
    wall(size.rows, look),
    { width: right, height: size.rows, lines: filledUp(plan.shown, size.rows) },
  ];
  return { page: plan.page, bands: [{ height: size.rows, panes }] };
}

const STEP_WORDS: Readonly<Record<StartStep, string>> = {
  situation: 'situation',
  instance: 'instance',
  target: 'target',
  backup: 'backup',
  incident: 'since when',
  moment: 'back to',
  check: 'check',
};

/** The steps with their answers, in at most two rows. */
function railLines(state: State, around: Around, look: Look): readonly Line[] {
  const { size } = around;
  const { columns: width, rows } = size;
  const steps = stepsFor(state.answers);
  const here = steps.indexOf(state.step);
  const pieces = steps.map((step, at): Line => {
    if (at === here) return [span(`${look.glyphs.current} ${STEP_WORDS[step]}`, 'selected')];
    if (at > here) return [span(`${look.glyphs.ahead} ${STEP_WORDS[step]}`, 'text.dim')];
    return [span(look.glyphs.done, 'status.ok'), span(` ${answerWords(step, state, around)}`)];
  });
  const most = rows < 14 ? 1 : 2;
  const lines = inRows(pieces, width, look);
  // If they do not fit, show those up to the current one.
  const at = lines.findIndex((line) => line.some(({ token }) => token === 'selected'));
  const first = Math.max(0, at - most + 1);
  return lines.slice(first, first + most);
}

/** As many steps in a row as fit; only one that is longer than a row is cut. */
function inRows(steps: readonly Line[], width: number, look: Look): readonly Line[] {
  const rows: Line[] = [];
  for (const step of steps) {
    const row = rows.at(-1);
    const joined = row === undefined ? step : [...row, span(' '), ...step];
    if (row !== undefined && lineWidth(joined) <= width) rows[rows.length - 1] = joined;
    else rows.push(cutLine(row === undefined ? step : [span('  '), ...step], width, look));
  }
  return rows;
}

function answerWords(step: StartStep, state: State, around: Around): string {
  const { answers } = state;
  const { now } = around;
  switch (step) {
    case 'situation':
      return chosenSituation({ answers })?.id.replaceAll('-', ' ') ?? '';
    case 'instance':
      return answers.instance ?? '';
    case 'target':
      return `into ${answers.target ?? ''}`;
    case 'backup':
      if (typeof answers.backup === 'string') return `backup ${backupName(state, around)}`;
      return takesNewest(chosenSituation({ answers })?.wish) ? 'newest backup' : 'the run asks for it';
    case 'incident':
      return typeof answers.incident === 'string'
        ? `since ${shortTime(answers.incident, now)}`
        : 'since an unknown time';
    default:
      return typeof answers.moment === 'string'
        ? `back to ${shortTime(answers.moment, now)}`
        : 'the run asks for the time';
  }
}

/** Leaves out the date if it is today. */
function shortTime(at: string, now: Date): string {
  const [said, today] = [formatUtc(msOf(at)), formatUtc(now.getTime()).slice(0, 11)];
  return said.startsWith(today) ? said.slice(today.length) : said;
}

function incidentLines(state: State, around: Around, { columns }: Size, look: Look): readonly Line[] {
  const isEmpty = state.field.text.trim() === '';
  const read = typedMoment(state, around);
  const problem = isEmpty ? undefined : momentProblem(read);
  const isPitr = stepsFor(state.answers).includes('moment');
  const said: readonly Line[] =
    isEmpty || read === undefined
      ? wrapLine([span('such as 14:32, 14:32 UTC, 10 minutes ago, yesterday 23:10', 'text.dim')], columns)
      : 'time' in read
        ? readLines(read.time, around, columns, look)
        : wrapLine([span(`${look.glyphs.warn} ${problem ?? ''}`, 'status.warn')], columns, 2);
  const why = isPitr
    ? 'next you choose the moment to go back to; a minute before this one is suggested'
    : 'the recovery time counts from it';
  return [
    fieldLine(`${look.glyphs.cursor} `, state.field, columns, look),
    BLANK,
    ...said,
    BLANK,
    ...wrapLine(
      [
        span(
          `${why}. If nobody knows, press Enter on an empty line. The time then counts from the start of the run.`,
          'text.dim',
        ),
      ],
      columns,
    ),
  ];
}

function readLines(time: string, around: Around, width: number, look: Look): readonly Line[] {
  const at = msOf(time);
  const ago = formatSpan(Math.max(0, (around.now.getTime() - at) / 1000));
  const [first, ...others] = formatHere(at);
  return [
    [span(`${look.glyphs.done} `, 'status.ok'), span(first, 'text.strong'), span(`  ${ago} ago`)],
    ...others.map((utc) => [span(`  ${utc}`)]),
  ].map((line) => cutLine(line, width, look));
}

function pickingLines(state: State, around: Around, { columns, rows }: Size, look: Look): readonly Line[] {
  const question = momentQuestion(state, around);
  if (question === undefined) {
    const why = noWindowOf(state, around);
    return why === undefined
      ? wrapLine([span('asking the service how far back it can go', 'text.dim')], columns)
      : [
          ...wrapLine(
            [span(`${look.glyphs.warn} how far back it can go is not known: ${why}`, 'status.warn')],
            columns,
            2,
          ),
          ...wrapLine([span('  the run asks the service again, and then asks you for the time')], columns, 2),
        ];
  }
  const typedNow = state.field.text.trim() !== '';
  const problem = typedNow ? momentProblem(typedMoment(state, around), question) : undefined;
  const said =
    problem === undefined
      ? []
      : wrapLine([span(`${look.glyphs.warn} ${problem}`, 'status.warn')], columns, 2);
  const picker = pickerOf(question, state);
  const incident = typeof state.answers.incident === 'string' ? msOf(state.answers.incident) : undefined;
  const unchosen = typedNow ? undefined : notChosenYet(state);
  const note =
    unchosen === undefined
      ? sideOf(picker.at, incident, look)
      : wrapLine([span(`${look.glyphs.warn} ${unchosen}`, 'status.warn')], columns, 2);
  const room = Math.max(0, rows - said.length - note.length);
  const drawn = momentLines(
    question,
    { key: '', row: 0, text: state.field.text, cursor: state.field.cursor, picker, sending: false },
    {
      focused: !typedNow,
      now: around.now.getTime(),
      field: fieldLine(typedNow ? `${look.glyphs.cursor} ` : '  or type it: ', state.field, columns, look),
    },
    columns,
    room,
    look,
  );
  return [...note.map((line) => cutLine(line, columns, look)), ...drawn, ...said];
}

/** Whether the moment lies before or after the mistake. */
function sideOf(at: number, incident: number | undefined, look: Look): readonly Line[] {
  if (incident === undefined) return [];
  const seconds = Math.abs(incident - at) / 1000;
  return at < incident
    ? [[span(`${look.glyphs.done} `, 'status.ok'), span(`${formatSpan(seconds)} before it happened`)]]
    : [
        [
          span(
            `${look.glyphs.warn} not before it happened: what went wrong would be brought back`,
            'status.warn',
          ),
        ],
      ];
}
