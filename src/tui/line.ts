import { cells, cutText, splitAt } from '../plain/width.ts';
import { type Line, type Look, type Span, span } from './span.ts';
import type { Token } from './theme.ts';

export function textOf(line: Line): string {
  return line.map(({ text }) => text).join('');
}

/** Width of a line in cells. */
export function lineWidth(line: Line): number {
  return line.reduce((sum, piece) => sum + cells(piece.text), 0);
}

/** Cuts a line to `width` cells, with an ellipsis if something is missing. */
export function cutLine(line: Line, width: number, look: Look): Line {
  if (lineWidth(line) <= width) return line;
  const kept: Span[] = [];
  let room = width;
  for (const piece of line) {
    const wide = cells(piece.text);
    if (wide < room || (wide === room && piece === line.at(-1))) {
      kept.push(piece);
      room -= wide;
      continue;
    }
    // More text follows or this piece does not fit, so end the line with an ellipsis.
    const text = wide < room ? piece.text : cutText(`${piece.text} `, room, look.glyphs.ellipsis);
    kept.push({ ...piece, text });
    break;
  }
  return kept;
}

/** The first `limit` rows; if rows are missing, the last one ends with an ellipsis. */
export function limitRows(rows: readonly Line[], limit: number, width: number, look: Look): Line[] {
  if (rows.length <= limit) return [...rows];
  const kept = rows.slice(0, Math.max(0, limit));
  const last = kept.at(-1);
  if (last !== undefined) kept[kept.length - 1] = cutLine([...last, span(' '.repeat(width))], width, look);
  return kept;
}

export function padLine(line: Line, width: number): Line {
  const missing = width - lineWidth(line);
  return missing > 0 ? [...line, { text: ' '.repeat(missing), token: 'text' }] : line;
}

/** A rule with a title in it: `── log ─────`. */
export function ruleLine(word: string, width: number, look: Look, token: Token = 'frame'): Line {
  const { rule } = look.glyphs;
  const head = `${rule}${rule} `;
  const tail = rule.repeat(Math.max(0, width - cells(head) - cells(word) - 1));
  return cutLine([span(head, token), span(word, 'text.strong'), span(` ${tail}`, token)], width, look);
}

/**
 * Wraps a line at blanks into rows of at most `width` cells; a longer word is broken at the end of the row.
 * Leading blanks are kept; rows after the first begin with `hanging` blanks.
 */
export function wrapLine(line: Line, width: number, hanging = 0): Line[] {
  const room = Math.max(1, width);
  // At most half of the row, so that a wide character still fits.
  const most = Math.floor(room / 2);
  const indent = Math.min(hanging, most);
  const lead = /^ */u.exec(line[0]?.text ?? '')?.[0].slice(0, most) ?? '';
  const rows: Span[][] = [lead === '' ? [] : [{ text: lead, token: 'text' }]];
  let used = lead.length;
  const isBegun = () => used > (rows.length === 1 ? lead.length : indent);
  const startRow = () => {
    rows.push(indent > 0 ? [{ text: ' '.repeat(indent), token: 'text' }] : []);
    used = indent;
  };
  for (const { blank, pieces } of wordsOf(line)) {
    const wide = lineWidth(pieces);
    if (isBegun() && used + (blank ? 1 : 0) + wide > room) startRow();
    else if (isBegun() && blank) {
      rows.at(-1)?.push({ text: ' ', token: pieces[0]?.token ?? 'text' });
      used += 1;
    }
    for (const piece of pieces) {
      let rest = piece.text;
      while (rest !== '') {
        const [head, tail] = splitAt(rest, room - used, isBegun() ? 0 : 1);
        if (head === '') {
          startRow();
          continue;
        }
        rows.at(-1)?.push({ text: head, token: piece.token });
        used += cells(head);
        rest = tail;
      }
    }
  }
  return rows.map(joinNeighbours);
}

interface Word {
  readonly blank: boolean;
  readonly pieces: Span[];
}

/** Words may consist of several spans (`**bold**,`); blanks between words collapse. */
function wordsOf(line: Line): Word[] {
  const words: Word[] = [];
  let blank = false;
  let open = false;
  for (const piece of line) {
    for (const part of piece.text.split(/( +)/u)) {
      if (part === '') continue;
      if (part.startsWith(' ')) {
        blank = true;
        open = false;
      } else if (open) {
        words.at(-1)?.pieces.push({ text: part, token: piece.token });
      } else {
        words.push({ blank, pieces: [{ text: part, token: piece.token }] });
        blank = false;
        open = true;
      }
    }
  }
  return words;
}

function joinNeighbours(row: readonly Span[]): Line {
  const joined: Span[] = [];
  for (const piece of row) {
    const last = joined.at(-1);
    if (last?.token === piece.token)
      joined[joined.length - 1] = {
        text: last.text + piece.text,
        token: last.token,
      };
    else joined.push(piece);
  }
  return joined;
}

/** Whether a row shows this text in full. */
export function hasText(line: Line, text: string): boolean {
  return line
    .map((piece) => piece.text)
    .join('')
    .includes(span(text).text);
}

/** Memoises the last call by the identity of its arguments: facts are replaced, never mutated. */
export function memoised<Args extends readonly unknown[], Result>(
  compute: (...args: Args) => Result,
): (...args: Args) => Result {
  let last: { readonly args: Args; readonly result: Result } | undefined;
  return (...args) => {
    if (last === undefined || args.some((arg, at) => arg !== last?.args[at]))
      last = { args, result: compute(...args) };
    return last.result;
  };
}
