import type { StartStep } from '../../../view/app/situations.ts';
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
import { cutLine, ruleLine, wrapLine } from '../../line.ts';
import type { Around } from '../../live-screen.ts';
import { cursorAt, filterLines } from '../../parts/list.ts';
import { tableLines } from '../../parts/table.ts';
import { BLANK, type Line, type Look, span } from '../../span.ts';
import { planLines, stakeLines } from './check.ts';
import { chosenRow, shownRows } from './keys.ts';
import { listOf } from './moment.ts';
import { railLines } from './rail.ts';
import { type ChoiceTable, tableOf } from './rows.ts';
import type { State } from './state.ts';
import { incidentLines, pickingLines } from './typing.ts';

/** The body: the way so far, what is asked, and what can be answered. */
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

/** So many columns beside a table for what is said of its row. */
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

/** Rows below a table: as many as its words need, a steady number where there is room. */
function belowRows(needed: number, rows: number): number {
  const steady = rows >= 16 ? 6 : 0;
  return Math.min(Math.max(needed + 1, steady), Math.max(0, rows - 3));
}

function detailLines(state: State, around: Around, width: number, look: Look): readonly Line[] {
  return (chosenRow(state, around)?.details ?? []).flatMap(({ text, tone }) => {
    if (tone === 'plain') return wrapLine([span(`  ${text}`)], width, 2);
    const sign = tone === 'bad' ? look.glyphs.failed : look.glyphs.warn;
    return wrapLine([span(`${sign} ${text}`, tone === 'bad' ? 'status.bad' : 'status.warn')], width, 2);
  });
}

/** Why several rows cannot be chosen. */
function causeLines({ cause }: ChoiceTable, width: number, look: Look): readonly Line[] {
  if (cause === undefined) return [];
  return wrapLine([span(`${look.glyphs.failed} ${cause}`, 'status.bad')], width, 2).slice(0, 3);
}

/** That an answer is still to come, or did not come. */
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
