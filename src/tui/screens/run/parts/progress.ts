import { formatBytes, formatElapsed, formatSpan } from '../../../../base/format.ts';
import { briefly } from '../../../../view/follow-up-words.ts';
import type { ActivityView, RailStep } from '../../../../view/run-view.ts';
import { cutLine, limitRows, lineWidth, wrapLine } from '../../../line.ts';
import { type Line, type Look, type Span, span } from '../../../span.ts';
import type { Token } from '../../../theme.ts';

/** The steps as a column, scrolled so that the current one is visible. */
export function railLines(rail: readonly RailStep[], width: number, height: number, look: Look): Line[] {
  const rows = rail.map((step) => {
    // If it does not fit, drop the usual time, then the remark, but keep the title.
    const whole = [stepLine(step, look), stepLine({ ...step, usual: undefined }, look)];
    return (
      whole.find((line) => lineWidth(line) <= width) ?? cutLine(stepLine(step, look).slice(0, 2), width, look)
    );
  });
  if (rows.length <= height) return rows;
  const at = currentIndex(rail);
  const first = Math.min(Math.max(0, at - Math.floor((height - 1) / 2)), rows.length - height);
  const shown = rows.slice(first, first + height);
  const above = first;
  const below = rows.length - first - height;
  if (height > 2 && above > 0) shown[0] = [span(`  (${above + 1} above)`, 'text.dim')];
  if (height > 2 && below > 0) shown[shown.length - 1] = [span(`  (${below + 1} below)`, 'text.dim')];
  return shown.map((line) => cutLine(line, width, look));
}

/** Wide enough for the longest title, within limits. */
export function railWidth(rail: readonly RailStep[], most: number): number {
  return Math.min(most, Math.max(16, ...rail.map((step) => lineWidth([span(step.title)]) + 2)));
}

export function roomyRail(columns: number): number {
  return Math.max(34, Math.floor(columns / 4));
}

/** The current step as one row, for narrow screens: `step 4/11 store the key`. */
export function railLine(rail: readonly RailStep[], width: number, look: Look): Line {
  const at = currentIndex(rail);
  const step = rail[at];
  if (step === undefined) return [];
  const line = [span(`step ${at + 1}/${rail.length} `, 'text.dim'), ...stepLine(step, look)];
  return cutLine(line, width, look);
}

/** The current step; if the run is over, the last one that was reached. */
function currentIndex(rail: readonly RailStep[]): number {
  const current = rail.findIndex((step) => step.state === 'current');
  if (current >= 0) return current;
  return Math.max(
    0,
    rail.findLastIndex((step) => step.state !== 'ahead'),
  );
}

const STEPS: Readonly<
  Record<
    RailStep['state'],
    {
      glyph: 'done' | 'current' | 'ahead' | 'skipped' | 'failed' | 'warn';
      mark: Token;
      title: Token;
      word: string;
    }
  >
> = {
  done: { glyph: 'done', mark: 'status.ok', title: 'text', word: '' },
  open: { glyph: 'warn', mark: 'status.warn', title: 'text', word: 'open' },
  current: { glyph: 'current', mark: 'selected', title: 'selected', word: '' },
  ahead: { glyph: 'ahead', mark: 'text.dim', title: 'text.dim', word: '' },
  skipped: {
    glyph: 'skipped',
    mark: 'status.warn',
    title: 'text.dim',
    word: 'skipped',
  },
  failed: {
    glyph: 'failed',
    mark: 'status.bad',
    title: 'text.strong',
    word: 'failed',
  },
};

type StepInRail = Omit<RailStep, 'usual'> & { readonly usual?: number | undefined };

export function stepWords({ state, note }: RailStep): string {
  const word = state === 'current' ? 'now' : state;
  return note === undefined ? word : `${word}: ${note}`;
}

/** A step with its state, its remark, and how long it took or usually takes. */
export function stepLine(step: StepInRail, look: Look): Line {
  const { glyph, mark, title, word } = STEPS[step.state];
  const time = [
    ...(step.seconds === undefined || step.seconds < 1 ? [] : [briefly(step.seconds)]),
    ...(step.usual === undefined ? [] : [`usually ${briefly(step.usual)}`]),
  ].join(', ');
  const remark = [word, step.note ?? '', time].filter((text) => text !== '').join(': ');
  return [
    span(`${look.glyphs[glyph]} `, mark),
    span(step.title, title),
    ...(remark === '' ? [] : [span(` (${remark})`, 'text.dim')]),
  ];
}

const BAR_WIDTH = 24;
const TITLE_ROWS = 2;

/** The current activity: its sentence and time, and a row for its progress. */
export function activityLines(activity: ActivityView | undefined, width: number, look: Look): Line[] {
  if (activity === undefined) return [];
  const title: Line = [
    span(`${look.glyphs.current} `, 'accent'),
    span(activity.title, 'text.strong'),
    span(`  ${formatElapsed(activity.seconds)}`, 'text.dim'),
  ];
  const { expected = '', runExpected = '' } = activity;
  const whole = [...title, span(expected === '' ? '' : `  step: ${expected}`, 'text.dim')];
  const lines =
    lineWidth(whole) <= width ? [whole] : limitRows(wrapLine(title, width, 2), TITLE_ROWS, width, look);
  if (expected !== '' && lineWidth(whole) > width) lines.push([span(`  step: ${expected}`, 'text.dim')]);
  if (runExpected !== '') lines.push([span(`  run: ${runExpected}`, 'text.dim')]);
  if (activity.awaited !== undefined)
    lines.push(...wrapLine([span(`  ${activity.awaited}`, 'status.warn')], width, 2));
  if (activity.progress !== undefined) {
    lines.push([
      span('  '),
      ...progressSpans(activity.progress, Math.min(BAR_WIDTH, Math.floor(width / 3)), look),
    ]);
  }
  return lines.map((line) => cutLine(line, width, look));
}

function progressSpans(progress: NonNullable<ActivityView['progress']>, bar: number, look: Look): Span[] {
  switch (progress.kind) {
    case 'task':
      return [span('status ', 'text.dim'), span(progress.status)];
    case 'wait':
      return [span(`looks again in ${formatSpan(progress.secondsLeft)}`, 'text.dim')];
    case 'bytes': {
      const { done, total, bytesPerSecond } = progress;
      const rate = bytesPerSecond === undefined ? '' : `  ${formatBytes(bytesPerSecond)}/s`;
      if (total === undefined || total <= 0) return [span(formatBytes(done)), span(rate, 'text.dim')];
      const part = Math.min(1, Math.max(0, done / total));
      const full = Math.floor(part * bar);
      return [
        span(look.glyphs.full.repeat(full), 'accent'),
        span(look.glyphs.empty.repeat(bar - full), 'text.dim'),
        span(
          ` ${String(Math.floor(part * 100)).padStart(3)} %  ${formatBytes(done)} of ${formatBytes(total)}`,
        ),
        span(`${rate}${leftOf(total - done, bytesPerSecond)}`, 'text.dim'),
      ];
    }
  }
}

function leftOf(missing: number, bytesPerSecond: number | undefined): string {
  if (missing <= 0 || bytesPerSecond === undefined || bytesPerSecond <= 0) return '';
  return `  ${formatSpan(missing / bytesPerSecond)} left`;
}
