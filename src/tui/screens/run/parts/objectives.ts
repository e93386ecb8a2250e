import { formatElapsed, formatSeconds } from '../../../../base/format.ts';
import type { ObjectiveView } from '../../../../view/run-view.ts';
import { cutLine, lineWidth, wrapLine } from '../../../line.ts';
import { signOf, tokenOf } from '../../../parts/tones.ts';
import { type Line, type Look, type Span, span } from '../../../span.ts';
import { limitRows } from './facts.ts';

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
