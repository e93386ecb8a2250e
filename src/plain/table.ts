import { show } from '../base/text.ts';
import { cells, cutStart, cutText } from './width.ts';

export interface Column {
  readonly title: string;
  readonly align?: 'left' | 'right';
  /**
   * May be cut if the terminal is narrow: at its end, or with `start` at its beginning, if the end is what
   * distinguishes rows. The widest of these columns shrinks first.
   */
  readonly gives?: boolean | 'start';
  /** Left out, the last one first, if the table is too wide even after shrinking. */
  readonly drops?: boolean;
}

export interface TableOptions {
  /** Maximum width in cells. Without it, as for a pipe, nothing is cut. */
  readonly width?: number;
  readonly colour?: boolean;
}

const GAP = '  ';
const NARROWEST = 8;

/** As `tableLines`, as one text. */
export function formatTable(
  all: readonly Column[],
  rows: Iterable<readonly string[]>,
  options: TableOptions = {},
): string {
  return [...tableLines(all, rows, options)].join('\n');
}

/**
 * One line for each row, with a title row. Cleans every cell, so untrusted text is safe. No trailing blanks,
 * no line longer than `width` (unless no column may shrink or be left out). Goes through the rows twice, and
 * keeps none: a table may have ten thousand.
 */
export function* tableLines(
  all: readonly Column[],
  rows: Iterable<readonly string[]>,
  options: TableOptions = {},
): Generator<string> {
  const whole = all.map(({ title }) => cells(title));
  for (const row of rows)
    for (const at of all.keys()) whole[at] = Math.max(whole[at] ?? 0, cells(show(row[at] ?? '')));
  const kept = fitting(all, whole, options.width ?? Number.POSITIVE_INFINITY);
  const columns = kept.map((at) => all[at] as Column);
  const widths = kept.map((at) => whole[at] ?? 0);
  if (options.width !== undefined) shrink(columns, widths, options.width);

  const line = (texts: readonly string[]) =>
    columns
      .map((column, at) => pad(texts[at] ?? '', widths[at] ?? 0, column))
      .join(GAP)
      .trimEnd();
  const title = line(columns.map((column) => column.title));
  yield options.colour ? `\u001b[1m${title}\u001b[22m` : title;
  for (const row of rows) yield line(kept.map((at) => show(row[at] ?? '')));
}

/** All columns, or as many as fit. */
function fitting(columns: readonly Column[], widths: readonly number[], limit: number): readonly number[] {
  const least = columns.map(({ gives }, at) => {
    const whole = widths[at] ?? 0;
    return gives === undefined || gives === false ? whole : Math.min(whole, NARROWEST);
  });
  const kept = columns.map((_, at) => at);
  const width = () => kept.reduce((sum, at) => sum + (least[at] ?? 0), GAP.length * (kept.length - 1));
  while (width() > limit) {
    const at = kept.findLastIndex((place) => columns[place]?.drops === true);
    if (at < 0) return kept;
    kept.splice(at, 1);
  }
  return kept;
}

function shrink(columns: readonly Column[], widths: number[], limit: number): void {
  const gaps = GAP.length * Math.max(0, columns.length - 1);
  for (;;) {
    const excess = widths.reduce((sum, width) => sum + width, gaps) - limit;
    if (excess <= 0) return;
    const candidates = widths
      .map((width, at) => ({ width, at }))
      .filter(({ width, at }) => Boolean(columns[at]?.gives) && width > NARROWEST)
      .sort((one, other) => other.width - one.width);
    const [widest, next] = candidates;
    if (widest === undefined) return;
    // Shrink at most to the next widest, so that two long columns shrink evenly.
    const step = Math.max(1, Math.min(excess, widest.width - Math.max(next?.width ?? NARROWEST, NARROWEST)));
    widths[widest.at] = widest.width - step;
  }
}

function pad(text: string, width: number, { align, gives }: Column): string {
  const cut = gives === 'start' ? cutStart(text, width) : cutText(text, width);
  const blanks = ' '.repeat(Math.max(0, width - cells(cut)));
  return align === 'right' ? blanks + cut : cut + blanks;
}
