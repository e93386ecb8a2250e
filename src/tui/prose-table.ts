import { lineWidth, padLine, wrapLine } from './line.ts';
import { BLANK, type Line } from './span.ts';

const BETWEEN = 2;
/** A column is not made narrower than this while another one is wider. */
const LEAST = 6;

/**
 * A table as rows of at most `width` cells: columns as wide as their texts where there is room, else the widest
 * give way and their texts are wrapped. A header without words is left out.
 */
export function tableRows(
  header: readonly Line[],
  rows: readonly (readonly Line[])[],
  width: number,
): Line[] {
  const isNamed = header.some((cell) => lineWidth(cell) > 0);
  const all = isNamed ? [header, ...rows] : rows;
  const count = Math.max(0, ...all.map((row) => row.length));
  const widths = Array.from({ length: count }, (_, at) =>
    Math.max(1, ...all.map((row) => lineWidth(row[at] ?? BLANK))),
  );
  const room = Math.max(count, width - BETWEEN * (count - 1));
  for (let missing = total(widths) - room; missing > 0; missing = total(widths) - room) {
    const widest = widths.indexOf(Math.max(...widths));
    const next = Math.max(LEAST, ...widths.filter((_, at) => at !== widest));
    const now = widths[widest] ?? 1;
    widths[widest] = Math.max(1, now > next ? Math.max(next, now - missing) : now - 1);
    if (total(widths) === count) break;
  }
  return all.flatMap((row) => beside(row, widths));
}

/** The cells of one row beside each other, each wrapped into its column. */
function beside(row: readonly Line[], widths: readonly number[]): Line[] {
  const cells = widths.map((wide, at) => {
    const cell = row[at] ?? BLANK;
    return lineWidth(cell) === 0 ? [] : wrapLine(cell, wide);
  });
  const height = Math.max(1, ...cells.map((lines) => lines.length));
  return Array.from({ length: height }, (_, line) =>
    widths.flatMap((wide, at) => {
      const part = cells[at]?.[line] ?? BLANK;
      return at === widths.length - 1 ? part : padLine(part, wide + BETWEEN);
    }),
  );
}

function total(widths: readonly number[]): number {
  return widths.reduce((sum, wide) => sum + wide, 0);
}
