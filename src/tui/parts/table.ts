import { cells } from '../../plain/width.ts';
import { filledUp, type Layout, type Size, wholeBody } from '../bands.ts';
import { cutLine, lineWidth, padLine } from '../line.ts';
import { BLANK, type Line, type Look, span } from '../span.ts';
import type { Token } from '../theme.ts';

export interface Column<Row> {
  readonly title: string;
  readonly cell: (row: Row) => Line;
  readonly align?: 'right';
  /** The column with the highest number is dropped first if the table is too wide; without one, never. */
  readonly drop?: number;
  /** Minimum width to shrink to before a column is dropped. */
  readonly least?: number;
  /** A width that always counts, so that a changing text does not make another column come and go. */
  readonly kept?: number;
}

export interface TableView<Row> {
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  /** Index of the cursor row, or -1. */
  readonly cursor: number;
  readonly isMarked?: (row: Row) => boolean;
  readonly empty: string;
}

const BETWEEN = 2;
const LEAD = 2;

export function tableBody<Row>(
  table: TableView<Row>,
  size: Size,
  look: Look,
  { above = [], below = [] }: { readonly above?: readonly Line[]; readonly below?: readonly Line[] } = {},
): Layout {
  const height = size.rows - above.length - below.length;
  const { lines, pageRows } = tableLines(table, size.columns, height, look);
  return wholeBody([...above, ...lines, ...below], size, { height: pageRows, last: 0 });
}

/**
 * A table in exactly `height` rows of at most `width` cells, scrolled to the cursor. Only visible rows are
 * measured and drawn, so that thousands cost nothing; columns are as wide as these need. `pageRows` is the
 * number of visible rows.
 */
export function tableLines<Row>(
  { columns, rows, cursor, isMarked, empty }: TableView<Row>,
  width: number,
  height: number,
  look: Look,
): { readonly lines: readonly Line[]; readonly pageRows: number } {
  if (height <= 0) return { lines: [], pageRows: 1 };
  if (rows.length === 0) {
    const lines = [cutLine([span(empty, 'text.dim')], width, look)];
    return { lines: filledUp(lines, height), pageRows: 1 };
  }
  const room = Math.max(1, height - 1);
  const isCut = rows.length > room;
  const pageRows = Math.max(1, isCut ? room - 1 : room);
  // Keep the cursor off the edges, so that the next rows are visible.
  const first = Math.min(Math.max(0, cursor - Math.floor(pageRows / 2)), Math.max(0, rows.length - pageRows));
  const shown = rows.slice(first, first + pageRows);
  const drawn = shown.map((row) => columns.map(({ cell }) => cell(row)));
  const widths = columns.map(({ title }, at) =>
    Math.max(cells(title), ...drawn.map((line) => lineWidth(line[at] ?? BLANK))),
  );
  const columnsShown = fitted(columns, widths, width - LEAD);
  const line = (lead: Line, parts: readonly Line[]): Line =>
    cutLine(
      [
        ...lead,
        ...columnsShown.flatMap(({ at, wide }, place) => {
          const part = cutLine(parts[at] ?? BLANK, wide, look);
          const isLast = place === columnsShown.length - 1;
          const blank = ' '.repeat(Math.max(0, wide - lineWidth(part)));
          const gap = isLast ? '' : ' '.repeat(BETWEEN);
          return columns[at]?.align === 'right'
            ? [span(blank), ...part, span(gap)]
            : [...part, span(isLast ? '' : blank + gap)];
        }),
      ],
      width,
      look,
    );
  const head = line(
    [span(' '.repeat(LEAD))],
    columns.map(({ title }) => [span(title, 'text.dim')]),
  );
  const lines = shown.map((row, at) => {
    const isHere = first + at === cursor;
    const mark = isMarked?.(row) === true ? look.glyphs.dot : ' ';
    const lead = [span(isHere ? look.glyphs.cursor : ' ', 'selected'), span(mark, 'accent')];
    const drawnLine = line(lead, drawn[at] ?? []);
    return isHere ? padLine(emphasised(drawnLine), width) : drawnLine;
  });
  const below = rows.length - first - shown.length;
  const note = `${look.glyphs.more} ${first + 1} to ${first + shown.length} of ${rows.length}${below === 0 ? ', the end' : ''}`;
  const all = [head, ...lines, ...(isCut ? [cutLine([span(note, 'text.dim')], width, look)] : [])];
  return { lines: filledUp(all, height), pageRows };
}

/** The cursor row is bold, so that it stands out without colour. */
function emphasised(line: Line): Line {
  return line.map((piece) => (piece.token === 'text' ? { ...piece, token: 'text.strong' as Token } : piece));
}

/** The drawn columns with their widths: columns shrink first, then some are dropped. */
function fitted<Row>(columns: readonly Column<Row>[], widths: readonly number[], room: number) {
  let kept = withRoom(columns, widths, room);
  const total = () => kept.reduce((sum, { wide }) => sum + wide + BETWEEN, -BETWEEN);
  for (;;) {
    let missing = total() - room;
    if (missing <= 0) return kept;
    const spare = kept.reduce((sum, { wide, column }) => sum + slack(wide, column), 0);
    if (spare >= missing) {
      // The widest shrinks first, so that a long text does not cut a short name.
      kept = kept.map((one) => ({ ...one }));
      for (; missing > 0; missing -= 1) {
        const widest = kept
          .filter(({ wide, column }) => slack(wide, column) > 0)
          .reduce((most, one) => (one.wide > most.wide ? one : most));
        widest.wide -= 1;
      }
      return kept;
    }
    const gone = firstToGo(kept);
    if (gone === undefined) return kept;
    kept = kept.filter((one) => one !== gone);
  }
}

/** A drawn column, by its index among all. */
interface Fitted<Row> {
  readonly at: number;
  readonly column: Column<Row>;
  wide: number;
}

/** The columns that fit, counting kept widths. */
function withRoom<Row>(
  columns: readonly Column<Row>[],
  widths: readonly number[],
  room: number,
): Fitted<Row>[] {
  let left = columns.map((column, at): Fitted<Row> => ({ at, column, wide: widths[at] ?? 0 }));
  const least = ({ wide, column }: Fitted<Row>) => Math.max(column.kept ?? 0, wide - slack(wide, column));
  while (left.reduce((sum, one) => sum + least(one) + BETWEEN, -BETWEEN) > room) {
    const gone = firstToGo(left);
    if (gone === undefined) break;
    left = left.filter((one) => one !== gone);
  }
  return left;
}

function firstToGo<Row>(columns: readonly Fitted<Row>[]): Fitted<Row> | undefined {
  return columns.reduce<Fitted<Row> | undefined>(
    (worst, one) => ((one.column.drop ?? 0) > (worst?.column.drop ?? 0) ? one : worst),
    undefined,
  );
}

function slack<Row>(wide: number, { least }: Column<Row>): number {
  return least === undefined ? 0 : Math.max(0, wide - least);
}
