import { formatElapsed, formatSeconds } from '../../../../base/format.ts';
import type { ObjectiveView } from '../../../../view/run-view.ts';
import { cutLine, limitRows, lineWidth, padLine, wrapLine } from '../../../line.ts';
import { type Line, type Look, type Span, span } from '../../../span.ts';
import { signOf, tokenOf } from '../../../theme.ts';

const DETAIL_ROWS = 2;

/** Recovery time and recovery point against their limits in one row; nothing when the run has none. */
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

/** The same as a panel, each with how it comes about. */
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

/** As the clock of the run beside it, but never on the limit when that has just been passed. */
function elapsed(seconds: number, limit: number | undefined): string {
  return formatElapsed(limit !== undefined && seconds > limit ? Math.ceil(seconds) : seconds);
}

/** Room for the names of the objectives and of the slices. */
const NAME = 9;
const MAX = 40;

/**
 * What a recovery took and lost, each as a bar against its objective, and in words whether that was met;
 * `withSlices` shows the parts of the time as bars below it, one after the other. Nothing for a run that
 * recovers nothing.
 */
export function objectiveBars(
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

/** `RTO      ████░░░░  28 min 4 s of 30 min  ✓ met`; without the bar where it has no room. */
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

/** The limit is the whole bar; where more was used, it is where the mark stands. */
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

/** Each slice in its place of the bar above, so that they read as its course. */
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

/** What took any time has a cell. */
function cellsFor(seconds: number, scale: number, bar: number): number {
  return seconds <= 0 ? 0 : Math.min(bar, Math.max(1, Math.round((seconds / scale) * bar)));
}
