import { counted, formatElapsed, formatSpan } from '../../../base/format.ts';
import type { AskView, GroupView, LaneView, PlanView } from '../../../view/plan/plan-view.ts';
import {
  band,
  filledUp,
  type Layout,
  type Pane,
  type Size,
  scrolledBody,
  WIDE,
  wall,
  wholeBody,
} from '../../bands.ts';
import { cutLine, ruleLine, wrapLine } from '../../line.ts';
import { fieldLine, printedField } from '../../parts/field.ts';
import { cursorAt, filterLines } from '../../parts/list.ts';
import { BLANK, type Line, type Look, span } from '../../span.ts';
import { signOf, tokenOf } from '../../theme.ts';
import { wholeRows } from '../run/parts/overlays.ts';
import { askLine, columnsFor, cursor, groupLine, laneLine, signOfLane } from './plan-rows.ts';
import {
  type AskRow,
  answeredLanes,
  askAt,
  askRowsOf,
  isAmiss,
  keysOfRows,
  laneAt,
  type Page,
  type PlanKnown,
  type PlanState,
  type Row,
  rowsOf,
} from './plan-state.ts';

type PageOf<Is extends Page['is']> = Page & { readonly is: Is };

/** The body of the screen in exactly `size`. Only rows that are visible are drawn. Pure. */
export function layOutPlan(state: PlanState, known: PlanKnown, size: Size, look: Look): Layout {
  const { page } = state;
  const view = known.view();
  switch (page.is) {
    case 'overview':
      return overview(state, page, view, size, look);
    case 'ask':
      return askBody(page, view, size, look);
    case 'lane':
      return laneBody(page, known, size, look);
    case 'typing':
      return typingBody(page, size, look);
  }
}

function overview(
  { opened }: PlanState,
  { list }: PageOf<'overview'>,
  view: PlanView,
  size: Size,
  look: Look,
): Layout {
  const { columns, rows: height } = size;
  const rows = rowsOf(view, opened, list);
  const at = cursorAt(list, keysOfRows(rows));
  const head = [...headline(view, columns, look), ...filterLines(list, columns, look)];
  const asks = rows.slice(0, view.asks.length);
  const groups = rows.slice(asks.length);
  const room = height - head.length;
  const isWide = columns >= WIDE && asks.length > 0;
  const askWidth = isWide ? Math.floor((columns - 3) * 0.4) : columns;
  const title = `waits for ${view.watched === undefined ? 'you' : 'a person'}: ${asks.length}`;
  const askHeight = isWide ? room : Math.min(asks.length + 1, Math.max(2, Math.floor(room / 3)));
  const askLines = asks.length === 0 ? [] : windowed(asks, at, title, [askWidth, askHeight], look, askOf);
  const below = isWide ? room : room - askLines.length;
  const width = isWide ? columns - 3 - askWidth : columns;
  const lines = windowed(groups, at - asks.length, 'groups', [width, below], look, (shown, first) => {
    const laneColumns = columnsFor(shown, width, view.nowMs);
    return shown.map((row, index): Line => {
      const isHere = first + index === at - asks.length;
      if (row.is === 'group') return groupLine(row.group, { width, isOpen: row.isOpen, isHere }, look);
      if (row.is === 'ask') return BLANK;
      return laneLine(row.group, row.lane, laneColumns, { width, nowMs: view.nowMs, isHere }, look);
    });
  });
  const page = { height: Math.max(1, below - 2), last: 0 };
  if (!isWide) return wholeBody([...head, ...askLines, ...lines], size, page);
  const pane = (shown: readonly Line[], wide: number): Pane => ({
    width: wide,
    height: room,
    lines: filledUp(shown, room),
  });
  const panes = [pane(lines, width), wall(room, look), pane(askLines, askWidth)];
  return { page, bands: [band(head, columns), { height: room, panes }] };

  function askOf(shown: readonly Row[], first: number): readonly Line[] {
    return shown.map((row, index) =>
      row.is === 'ask' ? askLine(row.ask, askWidth, first + index === at, look) : BLANK,
    );
  }
}

/** What it does, how much time is gone, who has it; what comes next if it is over. */
function headline(view: PlanView, width: number, look: Look): Line[] {
  const { state, outcome, elapsedSeconds, rtoSeconds, watched } = view;
  const tone = outcome?.tone ?? 'plain';
  const sign = outcome === undefined ? look.glyphs.current : signOf(tone, look);
  const elapsed = formatElapsed(elapsedSeconds);
  const left = rtoSeconds === undefined ? 0 : rtoSeconds - elapsedSeconds;
  const rto =
    rtoSeconds === undefined
      ? [span(`  ${elapsed}`, 'text.dim')]
      : left >= 0
        ? [span(`  ${elapsed} of ${formatSpan(rtoSeconds)} (RTO)`, 'text.dim')]
        : [
            span(
              `  ${look.glyphs.warn} ${elapsed}: over the RTO of ${formatSpan(rtoSeconds)}`,
              'status.warn',
            ),
          ];
  return [
    cutLine(
      [span(`${sign} ${state}`, tone === 'plain' ? 'text.strong' : tokenOf(tone)), ...rto],
      width,
      look,
    ),
    ...(watched === undefined || outcome !== undefined
      ? []
      : wrapLine(
          [span(`  you look on: ${watched.driver}`, watched.isFree ? 'status.warn' : 'text.dim')],
          width,
          2,
        )),
    ...(outcome === undefined
      ? []
      : nextCommands(view).map((text) => cutLine([span(`  ${text}`, 'text.dim')], width, look))),
  ];
}

/** The commands for a plan that is over: its report, and what lists the runs that it has left. */
function nextCommands({ runId, groups }: PlanView): readonly string[] {
  const hasLeft = groups.some(({ lanes }) => lanes.some((lane) => lane.is === 'out' || isAmiss(lane)));
  const shown = hasLeft ? [`what is left: lifeboat plans show ${runId}`] : [];
  return [`report: lifeboat report ${runId}`, ...shown];
}

/** Rows under a rule, in exactly this height, scrolled to the cursor; the last row says if there are more. */
function windowed<One>(
  rows: readonly One[],
  at: number,
  title: string,
  [width, height]: readonly [number, number],
  look: Look,
  draw: (shown: readonly One[], first: number) => readonly Line[],
): readonly Line[] {
  if (height < 1) return [];
  const room = height - 1;
  const isCut = rows.length > room;
  const count = isCut ? Math.max(1, room - 1) : room;
  const here = Math.max(0, Math.min(at, rows.length - 1));
  const first = Math.min(Math.max(0, here - Math.floor(count / 2)), Math.max(0, rows.length - count));
  const shown = rows.slice(first, first + count);
  const note = `${look.glyphs.more} ${first + 1} to ${first + shown.length} of ${rows.length}`;
  const more = isCut ? [cutLine([span(`  ${note}`, 'text.dim')], width, look)] : [];
  return filledUp([ruleLine(title, width, look), ...draw(shown, first), ...more], height);
}

function askBody(page: PageOf<'ask'>, view: PlanView, size: Size, look: Look): Layout {
  const { columns, rows: height } = size;
  const ask = askAt(view, page.ask);
  if (ask === undefined)
    return wholeBody(wrapLine([span('this is no longer asked: Esc goes back')], columns), size);
  const rows = askRowsOf(ask);
  const at = cursorAt(page.list, keysOfRows(rows));
  const isWatched = view.watched !== undefined;
  const options = rows.slice(0, ask.options.length);
  const asking = rows.slice(options.length);
  const whole = askHead(ask, columns, look);
  const least = Math.min(asking.length + 1, Math.floor(height / 3));
  const answers = (isWhole: boolean) =>
    options.flatMap((row, index) => {
      const isHere = index === at;
      return optionLines(row, { isHere, isWhole: isWhole || isHere, isWatched }, columns, look);
    });
  const all = answers(true);
  const drawn = whole.length + all.length + least <= height ? all : answers(false);
  const most = Math.max(2, height - drawn.length - least);
  const head = whole.slice(0, most);
  const room = height - head.length - drawn.length;
  const marked = page.list.marked.size;
  const title =
    marked === 0
      ? `${counted(asking.length, 'instance')} ${asking.length === 1 ? 'asks' : 'ask'} it`
      : `the answer is for ${answeredLanes(ask, page.list).length} of ${asking.length}`;
  const lanes =
    asking.length === 0
      ? []
      : windowed(asking, at - options.length, title, [columns, room], look, (shown, first) =>
          shown.map((row, index) =>
            askingLine(
              row,
              page.list.marked.has(row.key),
              first + index === at - options.length,
              columns,
              look,
            ),
          ),
        );
  const lines = [...head, ...drawn, ...lanes].slice(0, height);
  return wholeBody(lines, size, { height: Math.max(1, room - 2), last: 0 });
}

function askHead({ of, tone, prompt, facts }: AskView, width: number, look: Look): readonly Line[] {
  const where =
    of.is === 'plan' ? [] : [span(of.is === 'group' ? of.group : `${of.group}, step ${of.step}`, 'text.dim')];
  const sign = span(`${tone === 'bad' ? look.glyphs.failed : look.glyphs.warn} `, tokenOf(tone));
  return [
    ...(where.length === 0 ? [] : [cutLine(where, width, look)]),
    ...wrapLine([sign, span(prompt, 'text.strong')], width, 2),
    ...facts.flatMap((fact) => wrapLine([span(`  ${fact}`)], width, 4)),
    BLANK,
  ];
}

/** An answer with what it does: the whole of that, or what fits into one row. */
function optionLines(
  row: AskRow,
  {
    isHere,
    isWhole,
    isWatched,
  }: { readonly isHere: boolean; readonly isWhole: boolean; readonly isWatched: boolean },
  width: number,
  look: Look,
): readonly Line[] {
  if (row.is !== 'option') return [];
  const { label, hint, disabled, isRecommended, needs } = row.option;
  const opens = needs === undefined || isWatched ? undefined : 'Enter opens its field';
  const says = [hint, opens].filter((text) => text !== undefined).join('; ') || undefined;
  const note = disabled === undefined ? says : `not now: ${disabled}`;
  const token = disabled === undefined ? (isHere ? 'text.strong' : 'text') : 'text.dim';
  const words = isRecommended ? `${label} (recommended)` : label;
  const noted = [span(`    ${note ?? ''}`, 'text.dim')];
  const notes = isWhole ? wrapLine(noted, width, 4) : [cutLine(noted, width, look)];
  return [
    cutLine([...cursor(isHere, look), span(words, token)], width, look),
    ...(note === undefined ? [] : notes),
  ];
}

function askingLine(row: AskRow, isMarked: boolean, isHere: boolean, width: number, look: Look): Line {
  if (row.is !== 'asking') return BLANK;
  const { shown, prompt } = row.lane;
  const mark = span(isMarked ? `${look.glyphs.dot} ` : '  ', 'accent');
  const name = span(shown, isHere ? 'text.strong' : 'text');
  return cutLine([...cursor(isHere, look), mark, name, span(`  ${prompt}`, 'text.dim')], width, look);
}

function laneBody(page: PageOf<'lane'>, known: PlanKnown, size: Size, look: Look): Layout {
  const found = laneAt(known.view(), page.lane);
  const lines =
    found === undefined
      ? [[span('this instance is no longer part of the plan')]]
      : laneLines(found.group, found.lane, known, size, look);
  return scrolledBody(lines, page.scroll, size, look);
}

function laneLines(
  group: GroupView,
  lane: LaneView,
  known: PlanKnown,
  { columns, rows }: Size,
  look: Look,
): readonly Line[] {
  const { shown, target, state, tone, words, runId } = lane;
  const about = target === undefined ? shown : `${shown} -> ${target}`;
  const head = [
    cutLine(
      [span(about, 'text.strong'), span(`  group ${group.id}: ${group.words}`, 'text.dim')],
      columns,
      look,
    ),
    ...wrapLine(
      [span(`${signOfLane(lane, look)} ${state}`, tokenOf(tone)), span(words === '' ? '' : `: ${words}`)],
      columns,
      2,
    ),
    ruleLine('steps', columns, look),
    ...group.steps.map(({ id, words: what }, index): Line => {
      const step = lane.steps[index];
      const sign = STEP_SIGNS[step?.is ?? 'ahead'];
      const is = STEP_WORDS[step?.is ?? 'ahead'];
      const note = [is, step?.note ?? ''].filter((text) => text !== '').join(', ');
      const here = lane.at === index + 1 ? ('text.strong' as const) : ('text' as const);
      return cutLine(
        [span(`${look.glyphs[sign]} `), span(id, here), span(`  ${what}`, 'text.dim'), span(`  ${note}`)],
        columns,
        look,
      );
    }),
  ];
  if (runId === undefined) return head;
  const log = known.lines(lane.key);
  const run = [ruleLine(`run ${runId}`, columns, look)];
  if (log === undefined) return [...head, ...run, [span('  reading the journal', 'text.dim')]];
  const room = Math.max(3, rows - head.length - run.length);
  return [...head, ...run, ...wholeRows(log, columns, look).slice(-room)];
}

const STEP_SIGNS = {
  done: 'done',
  failed: 'failed',
  passed: 'skipped',
  open: 'current',
  left: 'warn',
  'left-out': 'skipped',
  ahead: 'ahead',
} as const;

const STEP_WORDS = {
  done: 'done',
  failed: 'failed',
  passed: '',
  open: 'under way',
  left: 'left open',
  'left-out': 'not part of this run',
  ahead: '',
} as const;

function typingBody(page: PageOf<'typing'>, size: Size, look: Look): Layout {
  const { columns } = size;
  const { order, needs, field, what } = page;
  const asked = what.is === 'answer' ? what.ask : undefined;
  const names = what.is === 'answer' ? what.lanes.map(({ shown }) => shown) : [];
  const whom =
    names.length < 2 ? [] : wrapLine([span(`for ${names.length}: ${names.join(', ')}`)], columns, 2);
  const label = {
    name: 'name: ',
    reason: 'reason: ',
    evidence: 'proof: ',
    text: '',
    time: 'time: ',
    secret: '',
  };
  const lines = [
    ...(asked === undefined ? [] : askHead(asked, columns, look)),
    ...wrapLine([span(order, 'text.strong')], columns, 2),
    ...whom.slice(0, 3),
    ...wrapLine([span(needs.prompt)], columns, 2),
    fieldLine(label[needs.what], printedField(field), columns, look),
  ];
  // The field is always visible.
  return wholeBody(lines.slice(-size.rows), size);
}
