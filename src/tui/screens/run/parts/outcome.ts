import { counted, formatElapsed, formatSeconds } from '../../../../base/format.ts';
import { closedWords, stillOpen } from '../../../../view/follow-up-words.ts';
import type { ObjectiveView, OutcomeView, RailStep, RunView } from '../../../../view/run-view.ts';
import { GAP, type Layout, type Pane, scrolled, wall } from '../../../bands.ts';
import { commandLines } from '../../../command-lines.ts';
import { cutLine, limitRows, lineWidth, padLine, ruleLine, wrapLine } from '../../../line.ts';
import { factLines } from '../../../parts/facts.ts';
import { BLANK, type Line, type Look, type Span, span } from '../../../span.ts';
import { signOf, tokenOf } from '../../../theme.ts';
import type { UiState } from '../screen-state.ts';
import { followUpRow } from './follow-ups.ts';
import { railLines, railWidth, roomyRail, stepLine } from './progress.ts';

type Ended = RunView & { readonly outcome: OutcomeView };

/** From this width on, the steps stand beside the outcome, otherwise below it. */
const BESIDE = 100;

/** The view of a run that is over, unless an overlay covers it. */
export function endedIn({ view, overlay }: UiState): Ended | undefined {
  const { outcome } = view;
  return outcome === undefined || overlay !== 'none' ? undefined : { ...view, outcome };
}

export function finished(view: Ended, scroll: number, columns: number, height: number, look: Look): Layout {
  const isBeside = columns >= BESIDE && view.rail.length > 0 && view.rail.length <= height;
  const railCells = isBeside ? railWidth(view.rail, roomyRail(columns)) : 0;
  const width = isBeside ? columns - railCells - GAP : columns;
  const lines = finishedLines(view, view.outcome, { width, height, withSteps: !isBeside }, look);
  const { shown, page } = scrolled(lines, scroll, width, height, look);
  const text: Pane = { width, height, lines: shown };
  if (!isBeside) return { page, bands: [{ height, panes: [text] }] };
  const steps: Pane = { width: railCells, height, lines: railLines(view.rail, railCells, height, look) };
  return { page, bands: [{ height, panes: [steps, wall(height, look), text] }] };
}

/** From this height on, there is room for the slices of the recovery time and for blank rows. */
const ROOMY = 30;

/** Rows kept of each list that is cut (remarks, follow-ups); the rest follows below the proof. */
const MIN = 2;

/**
 * The outcome, the most needed first: result, objectives, open follow-ups and proof, in the first `height`
 * rows if possible; then the facts and, with `withSteps`, the time of each step.
 */
function finishedLines(
  view: RunView,
  outcome: OutcomeView,
  { width, height, withSteps }: { readonly width: number; readonly height: number; withSteps: boolean },
  look: Look,
): Line[] {
  const isRoomy = height >= ROOMY;
  const gap = isRoomy ? [BLANK] : [];
  const head = resultLines(outcome, width, look);
  const bars = objectiveBars(view.objectives, width, isRoomy, look);
  const proof = proofLines(view, outcome, width, look);
  const remarks = outcome.remarks.flatMap(({ tone, text }) => {
    const sign = signOf(tone, look);
    return wrapLine([span(`  ${sign === ' ' ? '' : `${sign} `}${text}`, tokenOf(tone))], width, 4);
  });
  const openHead = followUpHead(view, outcome, width, look);
  const open = followUpLines(view, width, look);
  // The last row says that there is more.
  const room = height - openHead.length - head.length - bars.length - proof.length - 3 * gap.length - 1;
  const openRows = Math.min(open.length, Math.max(MIN, room - Math.min(remarks.length, MIN)));
  const first = firstRows(remarks, Math.max(MIN, room - openRows), 'of remarks', look);
  const openLines = firstRows(open, openRows, 'of follow-ups', look);
  return [
    ...head,
    ...first,
    ...gap,
    ...bars,
    ...(bars.length === 0 ? [] : gap),
    ...openHead,
    ...openLines,
    ...gap,
    ...proof,
    ...(first.length === remarks.length ? [] : under('remarks', remarks, width, look)),
    ...(openLines.length === open.length ? [] : under('follow-ups', open, width, look)),
    ...outcome.groups.flatMap(({ title, facts }) =>
      under(title, factLines(facts, width, look, Number.POSITIVE_INFINITY), width, look),
    ),
    ...(withSteps ? stepsLines(view.rail, width, look) : []),
  ];
}

/** `✓ PROVEN`, how long it took, and the sentence below it. */
function resultLines(
  { tone, verdict, title, took, ways = [] }: OutcomeView,
  width: number,
  look: Look,
): Line[] {
  const token = tokenOf(tone);
  const word: Line = [span(`${signOf(tone, look)} ${verdict.toUpperCase()}`, token)];
  const both = [...word, span(`  ${took}`, 'text.dim')];
  return [
    ...(lineWidth(both) <= width ? [both] : [word, ...wrapLine([span(`  ${took}`, 'text.dim')], width, 2)]),
    ...wrapLine([span(`  ${title}`, 'text.strong')], width, 2),
    ...ways.flatMap(({ when, command, leadsTo }) => [
      ...wrapLine([span(`${when}${leadsTo === undefined ? '' : ' (w)'}:`)], width),
      ...commandLines(command, width).lines,
    ]),
  ];
}

function followUpHead(
  { followUps }: RunView,
  outcome: OutcomeView,
  width: number,
  look: Look,
): readonly Line[] {
  const open = stillOpen(followUps).length;
  if (open > 0)
    return [ruleLine(`still to be done: ${counted(open, 'follow-up')}`, width, look, 'status.warn')];
  const { text, tone } = closedWords(followUps, outcome);
  return wrapLine([span(`${signOf(tone, look)} `, tokenOf(tone)), span(text)], width, 2);
}

function followUpLines({ followUps }: RunView, width: number, look: Look): Line[] {
  const open = [...stillOpen(followUps)].sort(
    (one, other) => (one.left ?? Number.MAX_VALUE) - (other.left ?? Number.MAX_VALUE),
  );
  if (open.length === 0) return [];
  const command: Line = [span('  lifeboat followups list', 'text.code'), span('  says how', 'text.dim')];
  return [
    ...open.map((followUp) => followUpRow(followUp, false, open, width, look)),
    cutLine(command, width, look),
  ];
}

function proofLines({ runId }: RunView, { report, anchor }: OutcomeView, width: number, look: Look): Line[] {
  const rows = (...facts: (readonly [label: string, value: string])[]) => {
    const plain = facts.map(([label, value]) => ({
      label: label.padEnd(LABEL),
      value,
      tone: 'plain' as const,
    }));
    return factLines(plain, width, look, Number.POSITIVE_INFINITY);
  };
  const pin = anchor === undefined ? [] : [['anchor', `${anchor} (for the ticket)`] as const];
  return [
    ruleLine('where the proof is', width, look),
    ...rows(['report', `o reads it here; this writes ${report.file}:`]),
    ...commandLines(report.command, width).lines,
    ...rows(['run', runId], ...pin),
  ];
}

const LABEL = 6;

function stepsLines(rail: readonly RailStep[], width: number, look: Look): Line[] {
  const rows = rail.map((step) => cutLine(stepLine(step, look), width, look));
  return rows.length === 0 ? [] : under('steps', rows, width, look);
}

function under(title: string, lines: readonly Line[], width: number, look: Look): Line[] {
  return [ruleLine(title, width, look), ...lines];
}

/** The first rows; if some are missing, the last one says how many follow below. */
function firstRows(lines: readonly Line[], most: number, what: string, look: Look): readonly Line[] {
  if (lines.length <= most) return lines;
  const kept = lines.slice(0, Math.max(1, most - 1));
  const missing = counted(lines.length - kept.length, 'more row');
  return [...kept, [span(`  ${look.glyphs.more} ${missing} ${what} below`, 'text.dim')]];
}

const DETAIL_ROWS = 2;

/** Recovery time and recovery point against their limits in one row; empty if the run has none. */
export function objectiveLine(objectives: readonly ObjectiveView[], width: number, look: Look): Line[] {
  if (objectives.length === 0) return [];
  const row = (withLimits: boolean) =>
    objectives.flatMap((objective, at) => [
      ...(at === 0 ? [] : [span('   ')]),
      ...valueSpans(withLimits ? objective : { ...objective, limit: undefined }, look),
    ]);
  const whole = row(true);
  return [lineWidth(whole) <= width ? whole : cutLine(row(false), width, look)];
}

/** The objectives as a panel, each with how its figure comes about. */
export function objectiveLines(objectives: readonly ObjectiveView[], width: number, look: Look): Line[] {
  return objectives.flatMap((objective) => [
    cutLine(valueSpans(objective, look), width, look),
    ...limitRows(
      wrapLine([span(`    ${objective.detail}`, 'text.dim')], width, 4),
      objective.detail === '' ? 0 : DETAIL_ROWS,
      width,
      look,
    ),
  ]);
}

function valueSpans({ name, value, limit, running, tone }: ObjectiveView, look: Look): Span[] {
  const sign = signOf(tone, look);
  const shown =
    value === undefined ? 'not known yet' : running ? elapsed(value, limit) : formatSeconds(value);
  return [
    span(`${name} `, 'text.strong'),
    span(sign === ' ' ? shown : `${sign} ${shown}`, tokenOf(tone)),
    ...(limit === undefined ? [] : [span(` of ${formatSeconds(limit)}`, 'text.dim')]),
  ];
}

/** Rounds as the clock of the run does, but never shows the limit itself once it is exceeded. */
function elapsed(seconds: number, limit: number | undefined): string {
  return formatElapsed(limit !== undefined && seconds > limit ? Math.ceil(seconds) : seconds);
}

const NAME = 9;
const MAX = 40;

/**
 * What a recovery took and lost: a bar against each objective, and whether it was met. `withSlices` adds the
 * parts of the time as bars below it. Empty for a run that recovers nothing.
 */
function objectiveBars(
  objectives: readonly ObjectiveView[],
  width: number,
  withSlices: boolean,
  look: Look,
): Line[] {
  const bar = Math.min(MAX, Math.floor(width / 3));
  return objectives.flatMap((objective) => {
    const { slices = [], detail, why = '' } = objective;
    const isDrawn = withSlices && slices.length > 1;
    const words = [isDrawn ? '' : detail, why].filter((text) => text !== '');
    return [
      ...barLines(objective, bar, width, look),
      ...(isDrawn ? sliceLines(objective, bar, width, look) : []),
      ...words.flatMap((text) => wrapLine([span(`${' '.repeat(NAME)}${text}`, 'text.dim')], width, NAME)),
    ];
  });
}

/** `RTO      ████░░░░  28 min 4 s of 30 min  ✓ met`; the bar is left out if it does not fit. */
function barLines(objective: ObjectiveView, bar: number, width: number, look: Look): Line[] {
  const { name, value, limit, verdict, tone } = objective;
  const sign = signOf(tone, look);
  const words = verdict === undefined ? '' : `  ${sign === ' ' ? '' : `${sign} `}${verdict}`;
  const figures: Line = [
    span(value === undefined ? 'not known' : formatSeconds(value), 'text.strong'),
    span(limit === undefined ? '  no objective is set' : ` of ${formatSeconds(limit)}`, 'text.dim'),
    span(words, tokenOf(tone)),
  ];
  const label = padLine([span(name, 'text.strong')], NAME);
  const drawn = [...label, ...barSpans(objective, bar, look), span('  '), ...figures];
  if (limit !== undefined && value !== undefined && lineWidth(drawn) <= width) return [drawn];
  return wrapLine([...label, ...figures], width, 4);
}

/** The full bar is the limit; if more was used, a mark on the bar shows the limit. */
function barSpans({ value = 0, limit = 0, tone }: ObjectiveView, bar: number, look: Look): Span[] {
  const { full, empty, wall } = look.glyphs;
  const scale = scaleOf({ value, limit });
  const used = cellsFor(value, scale, bar);
  if (value <= limit)
    return [span(full.repeat(used), tokenOf(tone)), span(empty.repeat(bar - used), 'text.dim')];
  const mark = Math.min(bar - 1, Math.floor((limit / scale) * bar));
  return [
    span(full.repeat(mark), tokenOf(tone)),
    span(wall, 'text.strong'),
    span(full.repeat(bar - mark - 1), tokenOf(tone)),
  ];
}

/** Each slice is placed where it falls in the bar above. */
function sliceLines(objective: ObjectiveView, bar: number, width: number, look: Look): Line[] {
  const { slices = [] } = objective;
  const scale = scaleOf(objective);
  let before = 0;
  return slices.map(({ name, seconds }) => {
    const cells = cellsFor(seconds, scale, bar);
    const first = Math.min(Math.floor((before / scale) * bar), bar - cells);
    before += seconds;
    const line: Line = [
      ...padLine([span(`  ${name}`, 'text.dim')], NAME),
      span(' '.repeat(first)),
      span(look.glyphs.full.repeat(cells), 'accent'),
      span(' '.repeat(bar - first - cells)),
      span(`  ${formatSeconds(seconds)}`),
    ];
    return cutLine(line, width, look);
  });
}

function scaleOf({ value = 0, limit = 0 }: Pick<ObjectiveView, 'value' | 'limit'>): number {
  return Math.max(value, limit, 0.001);
}

/** Anything that took time gets at least one cell. */
function cellsFor(seconds: number, scale: number, bar: number): number {
  return seconds <= 0 ? 0 : Math.min(bar, Math.max(1, Math.round((seconds / scale) * bar)));
}
