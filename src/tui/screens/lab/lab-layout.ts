import { counted, formatTime } from '../../../base/format.ts';
import {
  type LabCallRow,
  type LabClock,
  type LabFacts,
  type LabInstance,
  type LabScenario,
  spanWords,
} from '../../../view/app/lab-facts.ts';
import { type HomeLab, NO_LAB } from '../../../view/app/sources.ts';
import { band, filledUp, GAP, type Layout, WIDE, wall, wholeBody } from '../../bands.ts';
import { cutLine, padLine, wrapLine } from '../../line.ts';
import type { Around } from '../../live-screen.ts';
import { type Field, type FieldIntent, fieldLine } from '../../parts/field.ts';
import {
  cursorAt,
  FRESH_LIST,
  filtered,
  filterLines,
  type ListIntent,
  type ListState,
} from '../../parts/list.ts';
import { type Column, tableLines } from '../../parts/table.ts';
import { BLANK, type Line, type Look, type Span, span } from '../../span.ts';
import type { Token } from '../../theme.ts';

/** The fewest rows of the table of instances, with its head. */
const MIN_TABLE = 3;

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

/** States differ by word, not only by colour. */
function stateSpan(state: string): Span {
  if (state === 'running') return span(state, 'status.ok');
  if (state === 'lost') return span('LOST', 'status.bad');
  if (state === 'deleted') return span('DELETED', 'status.bad');
  return span(state, 'status.warn');
}

const LABEL = 10;
const MAX_ROWS = 2;

/** Says that this is no service, which configured instances the lab lacks, and why it does not answer. */
function bannerLines(
  lab: HomeLab | undefined,
  { facts, now }: Around,
  width: number,
  look: Look,
): readonly Line[] {
  const { part, last } = facts.get('lab', null);
  const others = lab?.elsewhere ?? [];
  const about = [lab?.place, last?.value.about].filter((text) => text !== undefined && text !== '');
  const age = last === undefined ? undefined : Math.round((now.getTime() - last.at.getTime()) / 1000);
  return [
    ...labelled(
      [span('LAB', 'selected')],
      [
        span('a simulator on this machine: nothing on this screen reaches a service', 'text.strong'),
        span(about.length === 0 ? '' : ` (${about.join('; ')})`, 'text.dim'),
      ],
      width,
    ),
    ...(others.length === 0
      ? []
      : wrapLine(
          [
            span(`${look.glyphs.warn} not in this lab, and out of its reach: `, 'status.warn'),
            span(others.join(', ')),
          ],
          width,
          2,
        ).slice(0, MAX_ROWS)),
    ...(part.state === 'failed'
      ? wrapLine(
          [
            span(`${look.glyphs.failed} ${part.why}`, 'status.bad'),
            span(age === undefined ? '' : `; below is what it said ${spanWords(age)} ago`),
          ],
          width,
          2,
        ).slice(0, MAX_ROWS)
      : []),
  ];
}

/** Scenario, clock, settings and open faults; faults take at most `mostFaults` rows. */
function factLines(lab: LabFacts, width: number, mostFaults: number, look: Look): readonly Line[] {
  const { playing, scenarios, clock, routerSeconds, updateBlocking, faults } = lab;
  const summary = scenarios.find(({ name }) => name === playing)?.summary;
  const updates = `maintenance updates can${updateBlocking ? '' : 'not'} be forbidden`;
  const most = Math.max(1, mostFaults);
  const shown = faults.length <= most ? faults : faults.slice(0, most - 1);
  const rest = faults.length - shown.length;
  return [
    ...fact(
      'scenario',
      playing === undefined ? 'none has begun' : [playing, summary].filter(Boolean).join(': '),
      playing === undefined ? 'text.dim' : 'text',
      width,
    ),
    ...fact('clock', clockWords(clock), 'text', width),
    ...fact('router', `ends a request after ${spanWords(routerSeconds)}; ${updates}`, 'text', width),
    ...(faults.length === 0 ? fact('faults', 'none is open', 'text.dim', width) : []),
    ...[...shown, ...(rest === 0 ? [] : [`and ${counted(rest, 'more', 'more')}`])].map((text, at) =>
      cutLine([...padLine(label(at === 0 ? 'faults' : ''), LABEL), span(text, 'status.warn')], width, look),
    ),
  ];
}

function clockWords({ now, rate, skewSeconds, aheadSeconds }: LabClock): string {
  return [
    `${formatTime(now)} UTC`,
    rate === 1 ? undefined : `${rate} times as fast as real time`,
    Math.round(aheadSeconds) > 0 ? `${spanWords(aheadSeconds)} ahead of real time` : undefined,
    skewSeconds === 0 ? undefined : `${spanWords(skewSeconds)} ${skewSeconds < 0 ? 'slow' : 'fast'}`,
  ]
    .filter((part) => part !== undefined)
    .join(', ');
}

function fact(name: string, text: string, token: Token, width: number): readonly Line[] {
  return labelled(label(name), [span(text, token)], width);
}

function labelled(head: Line, text: Line, width: number): readonly Line[] {
  return wrapLine(text, Math.max(1, width - LABEL))
    .slice(0, MAX_ROWS)
    .map((row, at) => [...padLine(at === 0 ? head : [], LABEL), ...row]);
}

function label(name: string): Line {
  return [span(name, 'text.dim')];
}

type Over =
  | { readonly kind: 'scenarios'; readonly list: ListState }
  /** `isSure`: the row that deletes is selected. */
  | { readonly kind: 'delete'; readonly instance: string; readonly isSure: boolean }
  | { readonly kind: 'advance'; readonly field: Field };

export interface LabState {
  readonly list: ListState;
  readonly over: Over | undefined;
}

export const FRESH: LabState = { list: FRESH_LIST, over: undefined };

export type LabIntent =
  | 'look'
  | 'scenarios'
  | 'stop-faults'
  | 'lose'
  | 'bring-back'
  | 'ask-delete'
  | 'clock'
  | 'expire-tokens'
  | 'copy'
  | 'choose'
  | 'other'
  | 'close'
  | ListIntent
  | FieldIntent;

export interface LabKnown {
  readonly lab: LabFacts | undefined;
  /** Why the lab cannot be changed now; undefined if it can. */
  readonly why: string | undefined;
  readonly instances: readonly LabInstance[];
  readonly here: LabInstance | undefined;
  readonly isConfigured: boolean;
  readonly scenarios: readonly LabScenario[];
  readonly scenario: LabScenario | undefined;
}

/** The facts, filtered as on the screen. */
export function knownOf({ list, over }: LabState, { facts }: Pick<Around, 'facts'>): LabKnown {
  const home = facts.get('home', null).last?.value;
  const { part, last } = facts.get('lab', null);
  const lab = home?.lab === undefined ? undefined : last?.value;
  const instances = filtered(lab?.instances ?? [], list, ({ name, state }) => `${name} ${state}`);
  const here = instances[cursorAt(list, instances.map(nameOf))];
  const shown = over?.kind === 'scenarios' ? over.list : FRESH_LIST;
  const scenarios = filtered(lab?.scenarios ?? [], shown, ({ name, summary }) => `${name} ${summary}`);
  return {
    lab,
    why:
      home !== undefined && home.lab === undefined
        ? NO_LAB
        : part.state === 'failed'
          ? `nothing can be changed now: ${part.why}`
          : lab === undefined
            ? 'the lab has not answered yet'
            : undefined,
    instances,
    here,
    isConfigured: home?.instances.some(({ name }) => name === here?.name) === true,
    scenarios,
    scenario: scenarios[cursorAt(shown, scenarios.map(nameOf))],
  };
}

export function nameOf({ name }: { readonly name: string }): string {
  return name;
}
