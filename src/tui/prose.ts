import { Lexer, type MarkedToken, type Token as Node, type Tokens } from 'marked';
import type { Prose } from '../view/prose.ts';
import { lineWidth, padLine, wrapLine } from './line.ts';
import { BLANK, type Line, type Look, type Span, span } from './span.ts';
import type { Token } from './theme.ts';

/**
 * GitHub Markdown as rows of at most `width` cells: paragraphs, headings, lists, quotes, code, tables, bold,
 * emphasis and links. Other Markdown is shown as written; comments are left out.
 */
export function proseLines({ markdown, tokens }: Prose, width: number, look: Look): Line[] {
  try {
    const blocks = tokens === undefined ? Lexer.lex(markdown) : (JSON.parse(tokens) as Node[]);
    return drawBlocks(blocks, width, look, BETWEEN);
  } catch (error) {
    // Thousands of nested quotes overflow the stack.
    if (!(error instanceof RangeError)) throw error;
    return asWritten(markdown, width);
  }
}

const BETWEEN: readonly Line[] = [BLANK];

function drawBlocks(blocks: readonly Node[], width: number, look: Look, between: readonly Line[]): Line[] {
  return joined(
    blocks.map((block) => drawBlock(block as MarkedToken, width, look)),
    between,
  );
}

function joined(parts: readonly Line[][], between: readonly Line[]): Line[] {
  const drawn = parts.filter((rows) => rows.length > 0);
  return drawn.flatMap((rows, at) => (at === 0 ? rows : [...between, ...rows]));
}

function drawBlock(block: MarkedToken, width: number, look: Look): Line[] {
  const { glyphs } = look;
  switch (block.type) {
    case 'paragraph':
    case 'text':
      return wrapLine(inline(block.tokens ?? [block], 'text'), width);
    case 'heading':
      return wrapLine(inline(block.tokens, 'text.strong'), width);
    case 'blockquote': {
      const bar = `${glyphs.quote} `;
      return led(bar, bar, width, (room) => drawBlocks(block.tokens, room, look, BETWEEN));
    }
    case 'list':
      return joined(
        block.items.map((item, at) => drawItem(item, markerOf(block, at, look), width, look)),
        block.loose ? BETWEEN : [],
      );
    case 'code':
      return block.text.split('\n').flatMap((row) => wrapLine([span(`  ${row}`, 'text.code')], width, 4));
    case 'table':
      return tableRows(
        block.header.map(({ tokens }) => inline(tokens, 'text.strong')),
        block.rows.map((row) => row.map(({ tokens }) => inline(tokens, 'text'))),
        width,
      );
    case 'space':
    case 'def':
      return [];
    default:
      return asWritten(uncommented(block.raw), width);
  }
}

function markerOf({ ordered, start }: Tokens.List, at: number, { glyphs }: Look): string {
  return ordered ? `${Number(start) + at}. ` : `${glyphs.bullet} `;
}

function drawItem({ tokens, loose }: Tokens.ListItem, marker: string, width: number, look: Look): Line[] {
  return led(marker, ' '.repeat(marker.length), width, (room) =>
    drawBlocks(tokens, room, look, loose ? BETWEEN : []),
  );
}

/** Rows behind a lead of at most half of the width: `first` before the first row, then `rest`. */
function led(first: string, rest: string, width: number, rows: (room: number) => Line[]): Line[] {
  const cells = Math.min(first.length, Math.floor(width / 2));
  const lead = (text: string) => span(text.slice(0, cells), 'accent');
  return rows(width - cells).map((row, at) => [lead(at === 0 ? first : rest), ...row]);
}

function inline(nodes: readonly Node[], token: Token): Span[] {
  return (nodes as readonly MarkedToken[])
    .flatMap((node) => spansOf(node, token))
    .filter(({ text }) => text !== '');
}

function spansOf(node: MarkedToken, token: Token): Span[] {
  switch (node.type) {
    case 'text':
      return [span(node.text.replace(/\s*\n\s*/gu, ' '), token)];
    case 'escape':
      return [span(node.text, token)];
    case 'strong':
    case 'em':
      return inline(node.tokens, 'text.strong');
    case 'codespan':
      return [span(node.text, 'text.code')];
    case 'link': {
      const words = inline(node.tokens, token);
      return node.autolink === true || node.text === node.href
        ? words
        : [...words, span(` (${node.href})`, token)];
    }
    case 'br':
      return [span(' ', token)];
    default:
      return [span(uncommented(node.raw), token)];
  }
}

function uncommented(html: string): string {
  return html.replace(/<!--[\s\S]*?-->/gu, '');
}

function asWritten(text: string, width: number): Line[] {
  return text.trim() === ''
    ? []
    : text
        .trim()
        .split('\n')
        .flatMap((row) => wrapLine([span(row)], width));
}

const CELLS_BETWEEN = 2;
/** A column does not shrink below this width while another one is wider. */
const MIN = 6;

/**
 * A table as rows of at most `width` cells: columns as wide as their texts if there is room, else the widest
 * shrink and their texts are wrapped. A header without words is left out.
 */
function tableRows(header: readonly Line[], rows: readonly (readonly Line[])[], width: number): Line[] {
  const isNamed = header.some((cell) => lineWidth(cell) > 0);
  const all = isNamed ? [header, ...rows] : rows;
  const count = Math.max(0, ...all.map((row) => row.length));
  const widths = Array.from({ length: count }, (_, at) =>
    Math.max(1, ...all.map((row) => lineWidth(row[at] ?? BLANK))),
  );
  const room = Math.max(count, width - CELLS_BETWEEN * (count - 1));
  for (let missing = total(widths) - room; missing > 0; missing = total(widths) - room) {
    const widest = widths.indexOf(Math.max(...widths));
    const next = Math.max(MIN, ...widths.filter((_, at) => at !== widest));
    const now = widths[widest] ?? 1;
    widths[widest] = Math.max(1, now > next ? Math.max(next, now - missing) : now - 1);
    if (total(widths) === count) break;
  }
  return all.flatMap((row) => beside(row, widths));
}

/** The cells of one row side by side, each wrapped into its column. */
function beside(row: readonly Line[], widths: readonly number[]): Line[] {
  const cells = widths.map((wide, at) => {
    const cell = row[at] ?? BLANK;
    return lineWidth(cell) === 0 ? [] : wrapLine(cell, wide);
  });
  const height = Math.max(1, ...cells.map((lines) => lines.length));
  return Array.from({ length: height }, (_, line) =>
    widths.flatMap((wide, at) => {
      const part = cells[at]?.[line] ?? BLANK;
      return at === widths.length - 1 ? part : padLine(part, wide + CELLS_BETWEEN);
    }),
  );
}

function total(widths: readonly number[]): number {
  return widths.reduce((sum, wide) => sum + wide, 0);
}
