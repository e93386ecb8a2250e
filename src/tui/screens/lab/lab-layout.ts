import { counted, formatTime } from '../../../base/format.ts';
import { NO_LAB } from '../../../view/app/home.ts';
import type { LabCallRow, LabFacts, LabInstance, LabScenario } from '../../../view/app/lab-facts.ts';
import { band, filledUp, GAP, type Layout, WIDE, wall, wholeBody } from '../../bands.ts';
import { cutLine, wrapLine } from '../../line.ts';
import type { Around } from '../../live-screen.ts';
import { fieldLine } from '../../parts/field.ts';
import { cursorAt, filterLines } from '../../parts/list.ts';
import { type Column, tableLines } from '../../parts/table.ts';
import { BLANK, type Line, type Look, type Span, span } from '../../span.ts';
import { bannerLines, clockWords, factLines } from './lab-lines.ts';
import { knownOf, type LabKnown, type LabState, nameOf } from './lab-state.ts';

/** The fewest rows of the instances, with their head. */
const MIN_TABLE = 3;

/** The body of the screen. */
export function layOut(state: LabState, around: Around, look: Look): Layout {
  const { columns, rows } = around.size;
  const home = around.facts.get('home', null).last?.value;
  const page = (lines: readonly Line[], height = 1): Layout =>
    wholeBody(lines, around.size, { height, last: 0 });
  if (home !== undefined && home.lab === undefined)
    return page([BLANK, ...wrapLine([span(NO_LAB, 'text.strong')], columns, 2)]);
  const known = knownOf(state, around);
  const top = bannerLines(home?.lab, around, columns, look);
  const { over } = state;
  if (over?.kind === 'delete') {
    const question = [BLANK, ...deleteLines(over, columns, look)];
    return page([...top.slice(0, Math.max(0, rows - question.length)), ...question]);
  }
  if (over?.kind === 'advance') {
    const lines = [
      fieldLine('ahead by: ', over.field, columns, look),
      BLANK,
      ...advanceLines(known, columns),
    ];
    return page([...top, BLANK, ...lines]);
  }
  if (over?.kind === 'scenarios') {
    const { list } = over;
    const filter = filterLines(list, columns, look);
    const summary = wrapLine([span(known.scenario?.summary ?? '')], columns, 2).slice(0, 3);
    const { lines, pageRows } = tableLines(
      {
        columns: SCENARIO_COLUMNS,
        rows: known.scenarios,
        cursor: cursorAt(list, known.scenarios.map(nameOf)),
        empty: 'there is no such scenario',
      },
      columns,
      Math.max(0, rows - filter.length - summary.length - 1),
      look,
    );
    return page([...filter, ...lines, BLANK, ...summary], pageRows);
  }
  return wholeLab(state, known, top, around, look);
}

function wholeLab(
  { list }: LabState,
  { lab, instances }: LabKnown,
  banner: readonly Line[],
  { size: { columns, rows } }: Around,
  look: Look,
): Layout {
  const filter = filterLines(list, columns, look);
  const most = Math.max(0, rows - MIN_TABLE - filter.length);
  const top = [
    ...banner,
    ...(lab === undefined ? [] : factLines(lab, columns, Math.floor(rows / 5), look)),
    BLANK,
  ];
  const head = [...top.slice(0, most), ...filter];
  const left = rows - head.length;
  const table = (width: number, height: number) =>
    tableLines(
      {
        columns: INSTANCE_COLUMNS,
        rows: instances,
        cursor: cursorAt(list, instances.map(nameOf)),
        empty: lab === undefined ? 'nothing is known of it yet' : 'no instance fits',
      },
      width,
      height,
      look,
    );
  if (columns >= WIDE) {
    const wide = Math.floor((columns - GAP) / 3);
    const { lines, pageRows } = table(wide, left);
    const panes = [
      { width: wide, height: left, lines },
      wall(left, look),
      { width: columns - wide - GAP, height: left, lines: callLines(lab, columns - wide - GAP, left, look) },
    ];
    return { page: { height: pageRows, last: 0 }, bands: [band(head, columns), { height: left, panes }] };
  }
  const high = Math.max(Math.min(MIN_TABLE, left), Math.min(instances.length + 1, Math.floor(left / 2)));
  const { lines, pageRows } = table(columns, high);
  const below = [BLANK, ...callLines(lab, columns, left - high - 1, look)];
  return {
    page: { height: pageRows, last: 0 },
    bands: [band(head, columns), band(filledUp([...lines, ...below], left), columns, left)],
  };
}

function callLines(lab: LabFacts | undefined, width: number, height: number, look: Look): readonly Line[] {
  if (lab === undefined || height <= 0) return [];
  const count = lab.callCount === 0 ? 'no change' : counted(lab.callCount, 'change');
  const title = `${count} of the service so far${lab.callCount > 1 ? ', the newest first' : ''}`;
  const { lines } = tableLines(
    { columns: CALL_COLUMNS, rows: lab.calls, cursor: -1, empty: '' },
    width,
    height - 1,
    look,
  );
  return [...wrapLine([span(title, 'text.dim')], width).slice(0, 1), ...lines];
}

function deleteLines(
  { instance, isSure }: { readonly instance: string; readonly isSure: boolean },
  width: number,
  look: Look,
): readonly Line[] {
  const row = (text: string, isHere: boolean): Line => {
    const lead = span(isHere ? `${look.glyphs.cursor} ` : '  ', 'selected');
    return cutLine([lead, span(text, isHere ? 'text.strong' : 'text')], width, look);
  };
  return [
    cutLine([span(`delete ${instance} for good?`, 'text.strong')], width, look),
    ...wrapLine([span(WHAT_IS_DELETED)], width),
    BLANK,
    row(`keep ${instance}`, !isSure),
    row(`delete ${instance}`, isSure),
  ];
}

const WHAT_IS_DELETED =
  'The service still lists it, and no longer changes it. Its backups stay. It cannot be brought back.';

function advanceLines({ lab }: LabKnown, width: number): readonly Line[] {
  const now = lab === undefined ? [] : wrapLine([span(`the clock shows ${clockWords(lab.clock)}`)], width);
  return [...now, ...wrapLine([span(WHAT_ADVANCES, 'text.dim')], width)];
}

const WHAT_ADVANCES =
  'Write a duration such as 30d, 1h30m or 90s. Backups age at once, and retention and schedules act. Databases keep real time. The clock cannot go back.';

const INSTANCE_COLUMNS: readonly Column<LabInstance>[] = [
  { title: 'instance', cell: ({ name }) => [span(name)], least: 10 },
  { title: 'state', cell: ({ state }) => [stateSpan(state)] },
  {
    title: 'backups',
    align: 'right',
    cell: ({ backups }) => [span(backups === undefined ? '-' : String(backups))],
    drop: 1,
  },
];

const SCENARIO_COLUMNS: readonly Column<LabScenario>[] = [
  { title: 'scenario', cell: ({ name }) => [span(name)] },
  { title: 'what you learn', cell: ({ summary }) => [span(summary, 'text.dim')], least: 10, drop: 1 },
];

const CALL_COLUMNS: readonly Column<LabCallRow>[] = [
  { title: 'at (UTC)', cell: ({ at }) => [span(formatTime(at).slice(-8), 'text.dim')], drop: 1 },
  { title: 'instance', cell: ({ instance }) => [span(instance)], least: 8 },
  { title: 'change', cell: ({ endpoint }) => [span(endpoint)], least: 10 },
  { title: 'what it did', cell: ({ detail }) => [span(detail, 'text.dim')], least: 6, drop: 2 },
];

/** A word and not the colour alone tells what is gone. */
function stateSpan(state: string): Span {
  if (state === 'running') return span(state, 'status.ok');
  if (state === 'lost') return span('LOST', 'status.bad');
  if (state === 'deleted') return span('DELETED', 'status.bad');
  return span(state, 'status.warn');
}
