import { counted } from '../../../base/format.ts';
import { cells, cutText } from '../../../plain/width.ts';
import { nowOf } from '../../../view/moment-reader.ts';
import type { QuestionView, RunView } from '../../../view/run-view.ts';
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
import { cutLine, limitRows, memoised, padLine, ruleLine, textOf, wrapLine } from '../../line.ts';
import { factLines, hintLines } from '../../parts/facts.ts';
import { footerLine } from '../../parts/frame.ts';
import { headerLine } from '../../parts/header.ts';
import { proseLines } from '../../prose.ts';
import { BLANK, type Line, type Look, span } from '../../span.ts';
import { signOf, tokenOf } from '../../theme.ts';
import type { Binding, Intent, Mode } from './key-binding.ts';
import { bindingsIn, footerBindings, KEYMAP } from './keymap.ts';
import { followUpLines, followUpPanel } from './parts/follow-ups.ts';
import { endedIn, finished, objectiveLine, objectiveLines } from './parts/outcome.ts';
import {
  fallbackLines,
  leaveLines,
  logHead,
  logLines,
  logRows,
  stepLines,
  watchedLines,
  wholeRows,
} from './parts/overlays.ts';
import { activityLines, railLine, railLines, railWidth, roomyRail } from './parts/progress.ts';
import { leastRows, questionLines, saidLines } from './parts/question.ts';
import { commandsAt, openedOf, type UiState, wayAt } from './screen-state.ts';
import { isHere, modeOf } from './ui-state.ts';

/** Most frames show the same prose as the one before. */
const drawnProse = memoised(proseLines);

/** The question always gets its rows; of the rest, the log shrinks first, then the prose, which scrolls. */
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

/** The mode in a window of this size: a confirmation whose stakes do not fit takes no text. */
export function modeIn(state: UiState, size: Size, look: Look): Mode {
  const mode = modeOf(state);
  return mode === 'input' && roomNeeded(state, size, look) !== undefined ? 'shut' : mode;
}

/** The size that a confirmation needs; undefined if it fits. No text is taken unless all stakes are shown. */
function roomNeeded(state: UiState, size: Size, look: Look): Size | undefined {
  if (isTooSmall(size)) return undefined;
  const { top } = topLines(state, false, size, look);
  const missing = leastOf(state, size, look) - (size.rows - top.length - 1);
  return missing > 0 ? { ...size, rows: size.rows + missing } : undefined;
}

function leastOf({ view, question, overlay }: UiState, { columns }: Size, look: Look): number {
  if (overlay !== 'none' || view.outcome !== undefined) return 0;
  if (view.question === undefined || question === undefined) return 0;
  return leastRows(view.question, question, columns, look, nowOf(view).getTime());
}

/** The rows above the run. A confirmation that is short of rows takes those of the rail and the clocks. */
function topLines(state: UiState, isOver: boolean, size: Size, look: Look) {
  const { columns, rows } = size;
  const { view } = state;
  const header = headerLine(view, columns, look, cells, (text, width) =>
    cutText(text, width, look.glyphs.ellipsis),
  );
  const announced = bannerLines(view.banner, columns, look);
  const banner = limitRows(announced, mostOfBanner(rows), columns, look);
  const short = [header, ...banner];
  // The end of a run shows rail and clocks itself.
  if (endedIn(state) !== undefined) return { top: short, isBannerCut: false };
  const rail = columns < MIDDLE && view.rail.length > 0 ? [railLine(view.rail, columns, look)] : [];
  const objectives = columns < WIDE || isOver ? objectiveLine(view.objectives, columns, look) : [];
  const whole = [...short, ...rail, ...objectives];
  const isScarce = rows - whole.length - 1 < leastOf(state, size, look);
  return { top: isScarce ? short : whole, isBannerCut: announced.length > banner.length };
}

/** A text that replaces the run: help, fallback script, or one follow-up in full above its ways. */
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

/** A step in full; for the current one also the announcement, the question and the facts. */
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

/** The announcement in full below a follow-up, where it was cut above it. */
function announcedBelow({ view, overlay }: UiState, isCut: boolean, width: number, look: Look): Line[] {
  return isCut && overlay === 'none' ? [BLANK, ...bannerLines(view.banner, width, look)] : [];
}

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

/** Prose, activity or question, log. What was cut of announcement and question follows the prose in full. */
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
  // Facts that do not fit into the column follow at the end of the text.
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
 * The rows right above the log: the activity, then the dialogue or the question. If rows are scarce, the
 * activity shrinks to its sentence, then gives way to what is below it.
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
 * Facts take at most half of the rows if the prose needs the other half; those that do not fit are repeated,
 * all of them, at the end of the text.
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

/** As many rows of facts as fit; the last one says how many are missing. */
function roomFor(facts: readonly Line[], room: number, width: number, look: Look): Line[] {
  if (facts.length <= room) return [...facts];
  const shown = facts.slice(0, Math.max(0, room - 1));
  const note = `${look.glyphs.more} ${counted(facts.length - shown.length, 'more row')} of facts: Tab, at the end`;
  return [...shown, cutLine([span(note, 'text.dim')], width, look)].slice(0, Math.max(0, room));
}

/** The column beside the prose: objectives, open follow-ups, facts, and the log. */
function side(state: UiState, facts: readonly Line[], width: number, height: number, look: Look) {
  const { view } = state;
  const most = Math.floor((height * 2) / 3);
  // A question about follow-ups lists them with more detail.
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

/** The announcement above everything else, with its hints. */
export function bannerLines(banner: RunView['banner'], width: number, look: Look): Line[] {
  if (banner === undefined) return [];
  const token = tokenOf(banner.tone);
  const text = wrapLine([span(`${signOf(banner.tone, look)} `, token), span(banner.text, token)], width, 2);
  return [...text, ...hintLines(banner.hints, width)];
}

/** The most rows that it takes above a run; the rest follows at the end of the text. */
function mostOfBanner(rows: number): number {
  return rows < 24 ? 2 : 4;
}

/** The question below a banner, without the prompt if the banner shows it in full. */
function askedBelow(
  { banner, question, watched }: Pick<RunView, 'banner' | 'question' | 'watched'>,
  { columns, rows }: Size,
  look: Look,
): QuestionView | undefined {
  if (banner === undefined || question === undefined || question.prompt !== banner.text) return question;
  const said = bannerLines({ ...banner, hints: [] }, columns, look).length;
  const most = mostOfBanner(rows);
  // If the banner is cut, its last row only says that there is more.
  const isWhole = said < most || (said === most && banner.hints.length === 0);
  if (!isWhole) return question;
  return { ...question, prompt: watched === undefined ? '' : 'what do you want to do about it?' };
}

/**
 * In full, after the text: the announcement if it was cut, and what is around the question if a row of it is
 * not among `shown`, drawn at `size`. `width`: cells of a row.
 */
function cutWords(
  { view, question, overlay }: UiState,
  isBannerCut: boolean,
  shown: readonly Line[],
  size: Size,
  width: number,
  look: Look,
): Line[] {
  const announced = isBannerCut ? [BLANK, ...bannerLines(view.banner, width, look)] : [];
  const asked = askedBelow(view, size, look);
  if (asked === undefined || question === undefined || overlay !== 'none') return announced;
  const texts = new Set(shown.map(textOf));
  const isCut = saidLines(asked, question, size.columns, look).some((line) => !texts.has(textOf(line)));
  return isCut ? [...announced, BLANK, ...saidLines(asked, question, width, look)] : announced;
}

/** The keys that work now. The way on and the way out are placed first, so that they are not cut off. */
function runFooter(
  view: Pick<RunView, 'mode' | 'paused' | 'question' | 'outcome' | 'watched' | 'chapter'>,
  mode: Mode,
  width: number,
  look: Look,
  { question: asked, hasPalette = false }: Pick<UiState, 'question' | 'hasPalette'>,
): Line {
  const unit = asked?.picker?.unit ?? '';
  const hasCommand = commandsAt(view.question, asked) !== undefined;
  const hasWay = wayAt(view) !== undefined;
  const isFree = hasPalette && view.watched?.isFree === true;
  const isInDrill = view.chapter !== undefined;
  const shown = { isPaused: view.paused, hasCommand, hasWay, hasPalette, isFree, isInDrill };
  const bindings = footerBindings(mode, shown).map((binding) => ({
    ...binding,
    label: labelOf(binding, view).replace('{unit}', unit),
  }));
  const ranked = bindings.toSorted((one, other) => rankOf(one, bindings) - rankOf(other, bindings));
  return footerLine(view.mode, bindings, ranked, width, look);
}

/** In a drill, Enter at the end of a run goes on to the next chapter. */
function labelOf({ intent, label }: Binding, { chapter }: Pick<RunView, 'chapter'>): string {
  return intent === 'close' && chapter !== undefined ? 'go on with the drill' : label;
}

const ON: ReadonlySet<Intent> = new Set<Intent>(['choose', 'submit', 'wake', 'take-over']);
/** Keys that the screen does not suggest by itself, unlike those of a list. */
const NEEDED: ReadonlySet<Intent> = new Set<Intent>(['later', 'coarser', 'help', 'palette']);
const OUT: ReadonlySet<Intent> = new Set<Intent>([
  'ask-leave',
  'back',
  'close',
  'close-help',
  'close-fallback',
  'stay',
]);

/** Which keys are placed first; of several ways out, only one. */
function rankOf(binding: Binding, bindings: readonly Binding[]): number {
  const { intent } = binding;
  if (bindings.find((other) => OUT.has(other.intent)) === binding) return 0;
  return ON.has(intent) ? 1 : OUT.has(intent) || NEEDED.has(intent) ? 2 : 3;
}

const KEY_WIDTH = 12;

function helpLines(mode: Mode, width: number, look: Look): Line[] {
  const { glyphs } = look;
  const signs =
    `${glyphs.done} done  ${glyphs.current} now  ${glyphs.ahead} ahead  ` +
    `${glyphs.skipped} skipped  ${glyphs.failed} failed  ${glyphs.warn} look here`;
  const entries: readonly (readonly [string, string])[] = [
    ...bindingsIn(mode).map(({ shown, description }) => [shown, description] as const),
    ['signs', signs],
    mode === 'looking'
      ? ['leaving', 'ends only your watching: the run goes on']
      : [
          'leaving',
          'is safe: each step is on record before it is taken, and the run resumes where you left it',
        ],
  ];
  return [ruleLine('help', width, look, 'accent'), ...entries.flatMap((entry) => entryLines(entry, width))];
}

function entryLines([term, meaning]: readonly [string, string], width: number): Line[] {
  return wrapLine([span(meaning)], Math.max(10, width - KEY_WIDTH)).map((row, at) => [
    ...padLine(at === 0 ? [span(term, 'text.strong')] : [], KEY_WIDTH),
    ...row,
  ]);
}
