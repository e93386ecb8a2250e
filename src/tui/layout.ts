import { counted } from '../base/format.ts';
import { cells, cutText } from '../plain/width.ts';
import { nowOf } from '../view/moment-reader.ts';
import { cutWords } from './cut-words.ts';
import { cutLine, ruleLine } from './line.ts';
import { activityLines } from './parts/activity.ts';
import { bannerLines } from './parts/banner.ts';
import { factLines, limitRows } from './parts/facts.ts';
import { fallbackLines } from './parts/fallback-script.ts';
import { followUpLines, followUpPanel } from './parts/follow-ups.ts';
import { footerLine } from './parts/footer.ts';
import { headerLine } from './parts/header.ts';
import { helpLines } from './parts/help.ts';
import { leaveLines } from './parts/leave.ts';
import { logLines, wholeRows } from './parts/log.ts';
import { objectiveLine, objectiveLines } from './parts/objectives.ts';
import { outcomeLines } from './parts/outcome.ts';
import { questionLines } from './parts/question.ts';
import { railLine, railLines, railWidth } from './parts/rail.ts';
import { proseLines } from './prose.ts';
import { openedOf } from './question-state.ts';
import type { Page, UiState } from './screen-state.ts';
import { BLANK, type Line, type Look, span } from './span.ts';
import { modeOf } from './ui-state.ts';

export interface Size {
  readonly columns: number;
  readonly rows: number;
}

/** A part of the screen with the cells it gets. Its lines never exceed them. */
export interface Pane {
  readonly width: number;
  readonly height: number;
  readonly lines: readonly Line[];
}

/** The whole screen: bands from top to bottom, of one pane or several. Heights add up to the rows. */
export interface Layout {
  readonly bands: readonly {
    readonly height: number;
    readonly panes: readonly Pane[];
  }[];
  readonly page: Page;
}

/** Below this, only a word of advice is drawn, and questions cannot be answered: they could not be read. */
const SMALLEST: Size = { columns: 40, rows: 12 };

const WIDE = 120;
const MIDDLE = 80;
const GAP = 3;

/**
 * Gives every part its place. The question always has what it needs to be read; of the rest, the log gives
 * way first, then the prose (which scrolls).
 */
export function layOut(state: UiState, size: Size, look: Look): Layout {
  const { columns, rows } = size;
  if (isTooSmall(size)) return tooSmall(state, size, look);
  const { view } = state;
  const header = headerLine(view, columns, look, cells, (text, width) =>
    cutText(text, width, look.glyphs.ellipsis),
  );
  const footer = footerLine(view, modeOf(state), columns, look, state.question?.picker?.unit);
  const announced = bannerLines(view.banner, columns, look);
  const banner = limitRows(announced, rows < 24 ? 2 : 4, columns, look);
  const rail = columns < MIDDLE && view.rail.length > 0 ? [railLine(view.rail, columns, look)] : [];
  const over = textOver(state, columns, rows, look);
  const objectives =
    columns < WIDE || over !== undefined ? objectiveLine(view.objectives, columns, look) : [];
  const top = [header, ...banner, ...rail, ...objectives];
  const free = rows - top.length - 1;

  const middle =
    over === undefined
      ? run(state, columns, free, announced.length > banner.length, look)
      : overRun(state, over, columns, free, look);
  return {
    page: middle.page,
    bands: [band(top, columns), ...middle.bands, band([footer], columns)].filter(({ height }) => height > 0),
  };
}

export function isTooSmall({ columns, rows }: Size): boolean {
  return columns < SMALLEST.columns || rows < SMALLEST.rows;
}

function band(lines: readonly Line[], width: number, height = lines.length) {
  return { height, panes: [{ width, height, lines: lines.slice(0, height) }] };
}

function tooSmall(state: UiState, { columns, rows }: Size, look: Look): Layout {
  const texts = [
    `${state.view.mode} ${state.view.instance}`,
    'this window is too small',
    `make it at least ${SMALLEST.columns} x ${SMALLEST.rows}`,
  ];
  const lines = texts.map((text) => cutLine([span(text)], columns, look)).slice(0, rows);
  return { page: { height: 1, last: 0 }, bands: [band(lines, columns, rows)] };
}

/**
 * A text that takes the place of the run: the help, the fallback script, one follow-up in full above its
 * ways, or an outcome that is too long to stand below the run.
 */
function textOver(state: UiState, width: number, rows: number, look: Look): Line[] | undefined {
  const { view, question, overlay, fallback } = state;
  if (overlay === 'help') return helpLines(width, look);
  if (overlay === 'fallback') return fallbackLines(fallback, view.question !== undefined, width, look);
  if (view.outcome !== undefined && overlay === 'none' && !state.logGrown) {
    const outcome = outcomeLines(view.outcome, width, Number.POSITIVE_INFINITY, look);
    return outcome.length > rows / 2 ? outcome : undefined;
  }
  const followUp = openedOf(view.question, question?.opened);
  return followUp === undefined ? undefined : followUpLines(followUp, width, look);
}

function overRun(state: UiState, text: readonly Line[], width: number, height: number, look: Look): Layout {
  const covers = state.overlay === 'help' || state.overlay === 'fallback' || state.view.outcome !== undefined;
  const bottom = covers
    ? []
    : askedLines(state, width, height - Math.min(height < 10 ? 3 : 5, text.length), look);
  const { shown, page } = scrolled(text, state.scroll, width, height - bottom.length, look);
  return { page, bands: [band(shown, width, height - bottom.length), band(bottom, width)] };
}

/**
 * The run itself: the body with the prose on top, below it what goes on or is asked, below that the log. What
 * is cut of an announcement above it or of the words of a question below stands in full at the end of the
 * prose.
 */
function run(state: UiState, columns: number, free: number, isBannerCut: boolean, look: Look): Layout {
  const { view } = state;
  const leastBody = free < 9 ? 1 : free < 18 ? 3 : 6;
  const bottom = bottomLines(state, columns, free - leastBody, look);
  const left = free - bottom.length;
  const isWide = columns >= WIDE;

  const railCells = columns < MIDDLE || view.rail.length === 0 ? 0 : railWidth(view.rail, isWide ? 34 : 26);
  const sideWidth = isWide ? Math.min(56, Math.floor(columns / 3)) : 0;
  const gaps = (railCells > 0 ? GAP : 0) + (sideWidth > 0 ? GAP : 0);
  const proseWidth = columns - railCells - sideWidth - gaps;

  const prose = [
    ...(view.prose.title === '' ? [] : [cutLine([span(view.prose.title, 'selected')], proseWidth, look)]),
    ...(view.prose.title === '' || free < 26 ? [] : [BLANK]),
    ...proseLines(view.prose.markdown, proseWidth, look),
    ...cutWords(state, isBannerCut, bottom, columns, proseWidth, look),
  ];
  const facts = factLines(view.facts, isWide ? sideWidth : proseWidth, look);
  const wanted = isWide
    ? left
    : Math.max(
        prose.length + (facts.length > 0 ? facts.length + 1 : 0),
        railCells > 0 ? view.rail.length : 0,
      );
  const logRows = isWide ? 0 : logHeight(state, columns, left, leastBody, wanted, look);
  const bodyRows = left - logRows;

  const beside = isWide ? side(state, facts, sideWidth, bodyRows, look) : undefined;
  // What the column beside it has no room for stands at the end of the text.
  const rest = beside?.isCut ? [BLANK, ...factLines(view.facts, proseWidth, look)] : [];
  const main = isWide
    ? scrolled([...prose, ...rest], state.scroll, proseWidth, bodyRows, look)
    : proseOverFacts(prose, facts, state.scroll, proseWidth, bodyRows, look);
  const panes: Pane[] = [{ width: proseWidth, height: bodyRows, lines: main.shown }];
  if (railCells > 0) {
    const lines = railLines(view.rail, railCells, bodyRows, look);
    panes.unshift({ width: railCells, height: bodyRows, lines }, wall(bodyRows, look));
  }
  if (beside !== undefined) {
    panes.push(wall(bodyRows, look), {
      width: sideWidth,
      height: bodyRows,
      lines: beside.lines,
    });
  }
  return {
    page: main.page,
    bands: [
      { height: bodyRows, panes },
      band(bottom, columns),
      band(logLines(view.log, columns, logRows, look, state.logGrown), columns, logRows),
    ],
  };
}

/**
 * What the operator has to look at, right above the log: the activity, then the dialogue, the outcome or the
 * question. Where rows are scarce the activity shrinks to its sentence, then goes, but never without
 * something in its place.
 */
function bottomLines(state: UiState, width: number, limit: number, look: Look): Line[] {
  const activity = activityLines(state.view.activity, width, look);
  const whole = activity.length === 0 ? [] : [ruleLine('now', width, look), ...activity];
  const kept = limit >= 12 ? whole : limit >= 8 ? activity.slice(0, 1) : [];
  const asked = askedLines(state, width, limit - kept.length, look);
  return asked.length === 0 ? whole.slice(0, limit) : [...kept, ...asked];
}

function askedLines(
  { view, question, overlay, leaveRow }: UiState,
  width: number,
  limit: number,
  look: Look,
): Line[] {
  if (overlay === 'leave') return limitRows(leaveLines(view, leaveRow, width, look), limit, width, look);
  if (view.outcome !== undefined) return outcomeLines(view.outcome, width, limit, look);
  if (view.question === undefined || question === undefined) return [];
  return questionLines(view.question, question, width, limit, look, nowOf(view).getTime());
}

function logHeight(
  { view, logGrown }: UiState,
  width: number,
  left: number,
  leastBody: number,
  wantedBody: number,
  look: Look,
): number {
  if (view.log.length === 0) return 0;
  const spare = left - wantedBody;
  const whole = wholeRows(view.log.slice(-left), width, look).length;
  const most = logGrown || spare > whole ? whole : view.log.length;
  const usual = logGrown ? Math.ceil(left * 0.6) : left >= 14 ? 4 : 3;
  const height = Math.min(Math.max(usual, spare), left - leastBody, most + 1);
  return height < 2 ? 0 : height;
}

/**
 * Facts keep at most half of the rows when the prose needs its own; when that is too little, all follow at
 * the end of the text.
 */
function proseOverFacts(
  prose: readonly Line[],
  facts: readonly Line[],
  scroll: number,
  width: number,
  height: number,
  look: Look,
) {
  if (facts.length === 0) return scrolled(prose, scroll, width, height, look);
  const whole = [...prose, BLANK, ...facts];
  if (height < 3) return scrolled(whole, scroll, width, height, look);
  const factRows = Math.min(facts.length, Math.max(Math.floor((height - 1) / 2), height - 1 - prose.length));
  const isCut = factRows < facts.length;
  const text = scrolled(isCut ? whole : prose, scroll, width, height - factRows - 1, look);
  return { page: text.page, shown: [...text.shown, BLANK, ...roomFor(facts, factRows, width, look)] };
}

/** As many rows of facts as there is room for; the last says how many are missing. */
function roomFor(facts: readonly Line[], room: number, width: number, look: Look): Line[] {
  if (facts.length <= room) return [...facts];
  const shown = facts.slice(0, Math.max(0, room - 1));
  const note = `${look.glyphs.more} ${counted(facts.length - shown.length, 'more row')} of facts: Tab, at the end`;
  return [...shown, cutLine([span(note, 'text.dim')], width, look)].slice(0, Math.max(0, room));
}

/**
 * The column beside the prose: the clock against the objectives, the open follow-ups, the facts, below them
 * the log.
 */
function side(state: UiState, facts: readonly Line[], width: number, height: number, look: Look) {
  const { view, logGrown } = state;
  const most = logGrown ? Math.floor(height / 3) : Math.floor((height * 2) / 3);
  const followUps = followUpPanel(view.followUps, width, Math.max(3, Math.floor(height / 3)), look);
  const clocks = [objectiveLines(view.objectives, width, look), followUps]
    .filter((lines) => lines.length > 0)
    .flatMap((lines) => [...lines, BLANK]);
  const room = Math.max(0, (view.log.length === 0 ? height : most) - clocks.length);
  const shown = [...clocks, ...roomFor(facts, room, width, look)].slice(0, height);
  const gap = shown.length > 0 ? [BLANK] : [];
  const log = logLines(view.log, width, height - shown.length - gap.length, look, logGrown);
  return { isCut: facts.length > room, lines: [...shown, ...gap, ...log].slice(0, height) };
}

function wall(height: number, look: Look): Pane {
  return {
    width: GAP,
    height,
    lines: Array.from({ length: height }, () => [span(` ${look.glyphs.wall} `, 'frame')]),
  };
}

/** A window onto text that may be longer; the last row says when there is more. */
function scrolled(lines: readonly Line[], scroll: number, width: number, height: number, look: Look) {
  const rows = Math.max(0, height);
  if (lines.length <= rows) return { shown: lines, page: { height: Math.max(1, rows), last: 0 } };
  const text = Math.max(1, rows - 1);
  const last = lines.length - text;
  const first = Math.min(scroll, last);
  const below = lines.length - first - text;
  const note =
    below > 0 ? `${look.glyphs.more} ${counted(below, 'more row')}: Tab` : 'the end: Tab shows the beginning';
  const shown = [...lines.slice(first, first + text), cutLine([span(note, 'text.dim')], width, look)];
  return { shown: shown.slice(0, rows), page: { height: text, last } };
}
