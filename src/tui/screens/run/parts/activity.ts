import { formatBytes, formatElapsed, formatSpan } from '../../../../base/format.ts';
import type { ActivityView } from '../../../../view/run-view.ts';
import { cutLine, limitRows, lineWidth, wrapLine } from '../../../line.ts';
import { type Line, type Look, type Span, span } from '../../../span.ts';

const BAR_WIDTH = 24;
const TITLE_ROWS = 2;

/** What is going on: its sentence and time, and a row for its progress. */
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
