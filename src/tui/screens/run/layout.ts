import { counted } from '../../../base/format.ts';
import { cells, cutText } from '../../../plain/width.ts';
import { nowOf } from '../../../view/moment-reader.ts';
import {
  band,
  GAP,
  isTooSmall,
  type Layout,
  MIDDLE,
  type Pane,
  type Size,
  scrolled,
  tooSmall,
  WIDE,
  wall,
} from '../../bands.ts';
import { cutLine, limitRows, ruleLine } from '../../line.ts';
import { memoised } from '../../memo.ts';
import { headerLine } from '../../parts/header.ts';
import { proseLines } from '../../prose.ts';
import { BLANK, type Line, type Look, span } from '../../span.ts';
import type { Mode } from './key-binding.ts';
import { KEYMAP } from './keymap.ts';
import { isHere } from './looking.ts';
import { activityLines } from './parts/activity.ts';
import { askedBelow, bannerLines, cutWords, mostOfBanner } from './parts/banner.ts';
import { factLines } from './parts/facts.ts';
import { fallbackLines } from './parts/fallback-script.ts';
import { followUpLines, followUpPanel } from './parts/follow-ups.ts';
import { helpLines, runFooter } from './parts/footer.ts';
import { leaveLines, watchedLines } from './parts/leave.ts';
import { logHead, logLines, logRows, stepLines, wholeRows } from './parts/log.ts';
import { objectiveLine, objectiveLines } from './parts/objectives.ts';
import { endedIn, finished } from './parts/outcome.ts';
import { leastRows, questionLines, saidLines } from './parts/question.ts';
import { railLine, railLines, railWidth, roomyRail } from './parts/rail.ts';
import { openedOf } from './question-state.ts';
import type { UiState } from './screen-state.ts';
import { modeOf } from './ui-state.ts';

/** Most frames show the prose of the one before. */
const drawnProse = memoised(proseLines);

/**
 * Gives every part its place. The question always has what it needs to be read; of the rest, the log gives
 * way first, then the prose (which scrolls).
 */
export function layOut(state: UiState, size: Size, look: Look): Layout {
  const { columns, rows } = size;
  const { view } = state;
  if (isTooSmall(size)) return tooSmall(`${view.mode} ${view.target ?? view.instance}`, size, look);
  const over = textOver(state, columns, look);
  const ended = endedIn(state);
  const { top, isBannerCut } = topLines(state, over !== undefined, size, look);
  const footer = runFooter(view, modeIn(state, size, look), columns, look, state);
  const free = rows - top.length - 1;

  const middle =
    over !== undefined
      ? overRun(state, [...over, ...announcedBelow(state, isBannerCut, columns, look)], size, free, look)
      : ended !== undefined
        ? finished(ended, state.scroll, columns, free, look)
        : run(state, size, free, isBannerCut, look);
  return {
    page: middle.page,
    bands: [band(top, columns), ...middle.bands, band([footer], columns)].filter(({ height }) => height > 0),
  };
}

/** What the keyboard talks to in a window of this size. */
export function modeIn(state: UiState, size: Size, look: Look): Mode {
  const mode = modeOf(state);
  return mode === 'input' && roomNeeded(state, size, look) !== undefined ? 'shut' : mode;
}

/**
 * How large the window has to be for the confirmation that is asked now, where it is smaller: what is at
 * stake is shown whole, or nothing is taken.
 */
function roomNeeded(state: UiState, size: Size, look: Look): Size | undefined {
  if (isTooSmall(size)) return undefined;
  const { top } = topLines(state, false, size, look);
  const missing = leastOf(state, size, look) - (size.rows - top.length - 1);
  return missing > 0 ? { ...size, rows: size.rows + missing } : undefined;
}

/** The rows that the question cannot do without. */
function leastOf({ view, question, overlay }: UiState, { columns }: Size, look: Look): number {
  if (overlay !== 'none' || view.outcome !== undefined) return 0;
  if (view.question === undefined || question === undefined) return 0;
  return leastRows(view.question, question, columns, look, nowOf(view).getTime());
}

/** What stands above the run; a confirmation that needs the rows has those of the rail and the clocks. */
function topLines(state: UiState, isOver: boolean, size: Size, look: Look) {
  const { columns, rows } = size;
  const { view } = state;
  const header = headerLine(view, columns, look, cells, (text, width) =>
    cutText(text, width, look.glyphs.ellipsis),
  );
  const announced = bannerLines(view.banner, columns, look);
  const banner = limitRows(announced, mostOfBanner(rows), columns, look);
  const short = [header, ...banner];
  // The end of a run has them itself.
  if (endedIn(state) !== undefined) return { top: short, isBannerCut: false };
  const rail = columns < MIDDLE && view.rail.length > 0 ? [railLine(view.rail, columns, look)] : [];
  const objectives = columns < WIDE || isOver ? objectiveLine(view.objectives, columns, look) : [];
  const whole = [...short, ...rail, ...objectives];
  const isScarce = rows - whole.length - 1 < leastOf(state, size, look);
  return { top: isScarce ? short : whole, isBannerCut: announced.length > banner.length };
}

/**
 * A text that takes the place of the run: the help, the fallback script, or one follow-up in full above its
 * ways.
 */
function textOver(state: UiState, width: number, look: Look): Line[] | undefined {
  const { view, question, overlay, fallback } = state;
  if (overlay === 'help') return helpLines(modeOf({ ...state, overlay: 'none' }), width, look);
  if (overlay === 'log') return logRows(view.log, state.filter, width, look);
  if (overlay === 'step') return lookedAtLines(state, width, look);
  if (overlay === 'fallback') return fallbackLines(fallback, view.question !== undefined, width, look);
  if (view.outcome !== undefined) return undefined;
  const followUp = openedOf(view.question, question?.opened);
  return followUp === undefined ? undefined : followUpLines(followUp, width, look);
}

/** A step in full; of the one that the run stands at, also what is announced, asked and known. */
function lookedAtLines(state: UiState, width: number, look: Look): Line[] {
  const { view, question, stepRow } = state;
  const lines = stepLines(view, stepRow, width, look);
  const step = view.rail[stepRow];
  if (step === undefined || !isHere(step)) return lines;
  const said =
    view.question === undefined || question === undefined
      ? []
      : saidLines(view.question, question, width, look);
  const more = [bannerLines(view.banner, width, look), said, factLines(view.facts, width, look)];
  return [...lines, ...more.filter((part) => part.length > 0).flatMap((part) => [BLANK, ...part])];
}

/** What an announcement above a follow-up has no room for, in full below it. */
function announcedBelow({ view, overlay }: UiState, isCut: boolean, width: number, look: Look): Line[] {
  return isCut && overlay === 'none' ? [BLANK, ...bannerLines(view.banner, width, look)] : [];
}

/** By what key the text of a run gets the whole screen. */
function larger(state: UiState): string {
  const mode = modeOf(state);
  const key = KEYMAP.find(({ intent, modes }) => intent === 'enlarge' && modes.includes(mode))?.keys[0];
  if (key === undefined) return '';
  return key === 'z' ? ', z for all' : ', Ctrl-T for all';
}

const COVERS: ReadonlySet<string> = new Set<UiState['overlay']>(['help', 'fallback', 'log', 'step']);

function overRun(state: UiState, text: readonly Line[], size: Size, height: number, look: Look): Layout {
  const { columns: width } = size;
  const bottom = COVERS.has(state.overlay)
    ? []
    : askedLines(state, size, height - Math.min(height < 10 ? 3 : 5, text.length), look);
  const { view, filter, isFiltering } = state;
  const head = state.overlay === 'log' ? logHead(view, filter, isFiltering, width, look) : [];
  const room = height - bottom.length - head.length;
  const { shown, page } = scrolled(text, state.scroll, width, room, look);
  return { page, bands: [band(head, width), band(shown, width, room), band(bottom, width)] };
}

/**
 * The run itself: the body with the prose on top, below it what goes on or is asked, below that the log. What
 * is cut of an announcement above it or of the words of a question below stands in full at the end of the
 * prose.
 */
function run(state: UiState, size: Size, free: number, isBannerCut: boolean, look: Look): Layout {
  const { view } = state;
  const { columns } = size;
  const least = leastOf(state, size, look);
  const wantedBody = free < 9 ? 1 : free < 12 ? 2 : free < 18 ? 3 : 6;
  const leastBody = Math.max(0, least === 0 ? wantedBody : Math.min(wantedBody, free - least));
  const bottom = bottomLines(state, size, free - leastBody, look);
  const left = free - bottom.length;
  const isWide = columns >= WIDE;

  const mostOfRail = isWide ? roomyRail(columns) : 26;
  const railCells = columns < MIDDLE || view.rail.length === 0 ? 0 : railWidth(view.rail, mostOfRail);
  const sideWidth = isWide ? Math.min(56, Math.floor(columns / 3)) : 0;
  const gaps = (railCells > 0 ? GAP : 0) + (sideWidth > 0 ? GAP : 0);
  const proseWidth = columns - railCells - sideWidth - gaps;

  const prose = [
    ...(view.prose.title === '' ? [] : [cutLine([span(view.prose.title, 'selected')], proseWidth, look)]),
    ...(view.prose.title === '' || free < 26 ? [] : [BLANK]),
    ...drawnProse(view.prose, proseWidth, look),
    ...cutWords(state, isBannerCut, bottom, size, proseWidth, look),
  ];
  const facts = factLines(view.facts, isWide ? sideWidth : proseWidth, look);
  const wanted = isWide
    ? left
    : Math.max(
        prose.length + (facts.length > 0 ? facts.length + 1 : 0),
        railCells > 0 ? view.rail.length : 0,
      );
  const logHeightNow = isWide ? 0 : logHeight(state, columns, left, leastBody, wanted, look);
  const bodyRows = left - logHeightNow;

  const beside = isWide ? side(state, facts, sideWidth, bodyRows, look) : undefined;
  // What the column beside it has no room for stands at the end of the text.
  const rest = beside?.isCut ? [BLANK, ...factLines(view.facts, proseWidth, look)] : [];
  const main = isWide
    ? scrolled([...prose, ...rest], state.scroll, proseWidth, bodyRows, look, larger(state))
    : proseOverFacts(prose, facts, state, proseWidth, bodyRows, look);
  const panes: Pane[] = [{ width: proseWidth, height: bodyRows, lines: main.shown }];
  if (railCells > 0) {
    const lines = railLines(view.rail, railCells, bodyRows, look);
    panes.unshift({ width: railCells, height: bodyRows, lines }, wall(bodyRows, look));
  }
  if (beside !== undefined)
    panes.push(wall(bodyRows, look), { width: sideWidth, height: bodyRows, lines: beside.lines });
  return {
    page: main.page,
    bands: [
      { height: bodyRows, panes },
      band(bottom, columns),
      band(logLines(view.log, columns, logHeightNow, look), columns, logHeightNow),
    ],
  };
}

/**
 * What the operator has to look at, right above the log: the activity, then the dialogue or the question.
 * Where rows are scarce the activity shrinks to its sentence, then goes, but never without something in its
 * place.
 */
function bottomLines(state: UiState, size: Size, limit: number, look: Look): Line[] {
  const { columns: width } = size;
  const activity = activityLines(state.view.activity, width, look);
  const whole = activity.length === 0 ? [] : [ruleLine('now', width, look), ...activity];
  const spare = limit - leastOf(state, size, look);
  const kept =
    limit >= 12 && spare >= whole.length ? whole : limit >= 8 && spare > 0 ? activity.slice(0, 1) : [];
  const asked = askedLines(state, size, limit - kept.length, look, roomNeeded(state, size, look));
  return asked.length === 0 ? whole.slice(0, limit) : [...kept, ...asked];
}

function askedLines(
  { view, question, overlay, leaveRow }: UiState,
  size: Size,
  limit: number,
  look: Look,
  needed?: Size,
): Line[] {
  const { columns: width } = size;
  if (overlay === 'leave' || overlay === 'lead')
    return limitRows(leaveLines(view, overlay, leaveRow, width, look), limit, width, look);
  const asked = askedBelow(view, size, look);
  if (view.watched !== undefined)
    return limitRows(watchedLines({ ...view, question: asked }, width, look), limit, width, look);
  if (asked === undefined || question === undefined) return [];
  return questionLines(asked, question, width, limit, look, nowOf(view).getTime(), needed);
}

function logHeight(
  { view }: UiState,
  width: number,
  left: number,
  leastBody: number,
  wantedBody: number,
  look: Look,
): number {
  if (view.log.length === 0) return 0;
  const spare = left - wantedBody;
  const whole = wholeRows(view.log.slice(-left), width, look).length;
  const most = spare > whole ? whole : view.log.length;
  const usual = left >= 14 ? 4 : 3;
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
  state: UiState,
  width: number,
  height: number,
  look: Look,
) {
  const window = (lines: readonly Line[], rows: number) =>
    scrolled(lines, state.scroll, width, rows, look, larger(state));
  if (facts.length === 0) return window(prose, height);
  const whole = [...prose, BLANK, ...facts];
  if (height < 3) return window(whole, height);
  const factRows = Math.min(facts.length, Math.max(Math.floor((height - 1) / 2), height - 1 - prose.length));
  const isCut = factRows < facts.length;
  const text = window(isCut ? whole : prose, height - factRows - 1);
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
  const { view } = state;
  const most = Math.floor((height * 2) / 3);
  // A question that lists them shows more of each.
  const isListed = view.question?.kind === 'followUps' && view.watched === undefined;
  const followUps = isListed
    ? []
    : followUpPanel(view.followUps, width, Math.max(3, Math.floor(height / 3)), look);
  const clocks = [objectiveLines(view.objectives, width, look), followUps]
    .filter((lines) => lines.length > 0)
    .flatMap((lines) => [...lines, BLANK]);
  const room = Math.max(0, (view.log.length === 0 ? height : most) - clocks.length);
  const shown = [...clocks, ...roomFor(facts, room, width, look)].slice(0, height);
  const gap = shown.length > 0 ? [BLANK] : [];
  const log = logLines(view.log, width, height - shown.length - gap.length, look);
  return { isCut: facts.length > room, lines: [...shown, ...gap, ...log].slice(0, height) };
}
