import { padLine } from '../line.ts';
import { type Line, type Look, type Span, span } from '../span.ts';

/**
 * The course of a measurement in at most `width` cells, the newest value last. The lowest visible value gets
 * the lowest sign, and so does a value that never changes.
 */
export function sparkline(values: readonly number[], width: number, look: Look): Span {
  const shown = newest(values, width);
  const levels = Array.from(look.glyphs.levels);
  return span(shown.map((value) => levels[levelOf(value, shown, levels.length)] ?? ' ').join(''), 'accent');
}

/** The same as columns of `height` rows, which show smaller differences. */
export function chartLines(
  values: readonly number[],
  width: number,
  height: number,
  look: Look,
): readonly Line[] {
  const shown = newest(values, width);
  const levels = Array.from(look.glyphs.levels);
  const steps = levels.length;
  const heights = shown.map((value) => levelOf(value, shown, height * steps));
  return Array.from({ length: Math.max(0, height) }, (_, row) => {
    const below = (height - 1 - row) * steps;
    const text = heights.map((level) => {
      if (level < below) return ' ';
      return levels[Math.min(steps - 1, level - below)] ?? ' ';
    });
    return padLine([span(text.join(''), 'accent')], Math.min(width, shown.length));
  });
}

function newest(values: readonly number[], width: number): readonly number[] {
  const finite = values.filter((value) => Number.isFinite(value));
  return width <= 0 ? [] : finite.slice(-width);
}

function levelOf(value: number, shown: readonly number[], levels: number): number {
  const least = shown.reduce((low, one) => Math.min(low, one), Number.POSITIVE_INFINITY);
  const most = shown.reduce((high, one) => Math.max(high, one), Number.NEGATIVE_INFINITY);
  if (most === least) return 0;
  // Use halves: the difference of two values near the largest number would overflow.
  const share = (value / 2 - least / 2) / (most / 2 - least / 2);
  return Math.min(levels - 1, Math.floor(share * levels));
}
