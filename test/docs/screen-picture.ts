import type { IBuffer, IBufferCell } from '@xterm/headless';

/** Pixels of one cell of the terminal; a monospaced font of 14 px is about this large. */
const CELL = { width: 8.4, height: 18 };
const MARGIN = 12;

/** The colours that a dark terminal gives to the sixteen names; only those that Lifeboat uses differ. */
const COLOURS: Readonly<Record<number, string>> = { 1: '#ff7b72', 2: '#7ee787', 3: '#e3b341', 6: '#79c0ff' };
const TEXT = '#e6edf3';
const BACKGROUND = '#0d1117';

/**
 * What stands on the screen of a terminal, as an SVG image: one text element for each run of cells of one
 * look, placed cell by cell, so that the frame stays whole in any font. Pure.
 */
export function pictureOf(buffer: IBuffer, { cols, rows }: { readonly cols: number; readonly rows: number }) {
  const width = Math.ceil(cols * CELL.width + 2 * MARGIN);
  const height = Math.ceil(rows * CELL.height + 2 * MARGIN);
  const drawn = Array.from({ length: rows }, (_, row) => rowOf(buffer, row, cols));
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">
<rect width="100%" height="100%" rx="8" fill="${BACKGROUND}"/>
<g font-family="ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace" font-size="14" fill="${TEXT}">
${drawn.filter((line) => line !== '').join('\n')}
</g>
</svg>
`;
}

interface Piece {
  readonly column: number;
  readonly look: string;
  text: string;
  cells: number;
}

function rowOf(buffer: IBuffer, row: number, cols: number): string {
  const line = buffer.getLine(buffer.viewportY + row);
  if (line === undefined) return '';
  const pieces: Piece[] = [];
  for (let column = 0; column < cols; column += 1) {
    const cell = line.getCell(column);
    if (cell === undefined || cell.getWidth() === 0) continue;
    const look = lookOf(cell);
    const last = pieces.at(-1);
    const text = cell.getChars() || ' ';
    // An SVG keeps one blank of many, and then stretches what is left of the row.
    const isGap = text === ' ' && last?.text.endsWith(' ') === true;
    if (last?.look === look && !isGap) {
      last.text += text;
      last.cells += cell.getWidth();
    } else pieces.push({ column, look, text, cells: cell.getWidth() });
  }
  return pieces.flatMap((piece) => [...behind(piece, row), ...drawnText(trimmed(piece), row)]).join('\n');
}

/** Without the blanks around it, which an SVG does not keep. */
function trimmed(piece: Piece): Piece {
  const before = piece.text.length - piece.text.trimStart().length;
  const after = piece.text.length - piece.text.trimEnd().length;
  const { column, cells, text, look } = piece;
  return { look, column: column + before, cells: cells - before - after, text: text.trim() };
}

/** What is drawn in reverse stands on a background of its own. */
function behind({ column, look, cells }: Piece, row: number): string[] {
  const [colour = TEXT, ...marks] = look.split(' ');
  if (!marks.includes('inverse')) return [];
  const [x, y] = [round(MARGIN + column * CELL.width), round(MARGIN + row * CELL.height)];
  const width = round(cells * CELL.width);
  return [`<rect x="${x}" y="${y}" width="${width}" height="${CELL.height}" fill="${colour}"/>`];
}

function drawnText({ column, look, text, cells }: Piece, row: number): string[] {
  if (text === '') return [];
  const [colour = TEXT, ...marks] = look.split(' ');
  const x = round(MARGIN + column * CELL.width);
  const y = round(MARGIN + row * CELL.height + 13.5);
  const fill = marks.includes('inverse') ? BACKGROUND : colour;
  const weight = marks.includes('bold') ? ' font-weight="bold"' : '';
  const faint = marks.includes('dim') ? ' opacity="0.65"' : '';
  const length = `textLength="${round(cells * CELL.width)}" lengthAdjust="spacingAndGlyphs"`;
  return [`<text x="${x}" y="${y}" ${length} fill="${fill}"${weight}${faint}>${escaped(text)}</text>`];
}

function lookOf(cell: IBufferCell): string {
  const colour = cell.isFgPalette() ? (COLOURS[cell.getFgColor() % 8] ?? TEXT) : TEXT;
  const marks = [
    ...(cell.isBold() === 0 ? [] : ['bold']),
    ...(cell.isDim() === 0 ? [] : ['dim']),
    ...(cell.isInverse() === 0 ? [] : ['inverse']),
  ];
  return [colour, ...marks].join(' ');
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

function round(pixels: number): number {
  return Math.round(pixels * 10) / 10;
}
