import { wrapLine } from './line.ts';
import { BLANK, type Line, type Look, type Span, span } from './span.ts';
import type { Token } from './theme.ts';

/**
 * Runbook prose as rows of at most `width` cells: paragraphs, headings, lists, quotes, fenced code, `**bold**`, `*stress*` and code
 * in backticks. Anything else of Markdown is shown as it was written, which is readable too.
 */
export function proseLines(markdown: string, width: number, look: Look): Line[] {
  const lines: Line[] = [];
  for (const block of blocksOf(markdown)) {
    if (lines.length > 0 && !(block.kind === 'item' && block.tight)) lines.push(BLANK);
    lines.push(...drawBlock(block, width, look));
  }
  return lines;
}

type Block =
  | { readonly kind: 'paragraph' | 'heading' | 'quote'; text: string }
  | {
      readonly kind: 'item';
      readonly marker: string;
      readonly depth: number;
      readonly tight: boolean;
      text: string;
    }
  | { readonly kind: 'code'; readonly rows: string[] };

function drawBlock(block: Block, width: number, look: Look): Line[] {
  const { glyphs } = look;
  switch (block.kind) {
    case 'paragraph':
      return wrapLine(inline(block.text), width);
    case 'heading':
      return wrapLine([span(block.text.replace(/[*`]/gu, ''), 'text.strong')], width);
    case 'quote':
      return wrapLine(inline(block.text), Math.max(1, width - 2)).map((row) => [
        span(`${glyphs.quote} `, 'accent'),
        ...row,
      ]);
    case 'item': {
      const marker = /^\d/u.test(block.marker) ? `${block.marker} ` : `${glyphs.bullet} `;
      const indent = ' '.repeat(block.depth * 2);
      const hanging = indent.length + marker.length;
      return wrapLine(inline(block.text), Math.max(1, width - hanging)).map((row, at) => [
        span(at === 0 ? indent + marker : ' '.repeat(hanging), 'accent'),
        ...row,
      ]);
    }
    case 'code':
      return block.rows.flatMap((row) => wrapLine([span(`  ${row}`, 'text.code')], width, 4));
  }
}

function blocksOf(markdown: string): Block[] {
  const blocks: Block[] = [];
  let open: Block | undefined;
  const begin = (block: Block) => {
    blocks.push(block);
    open = block;
  };
  for (const row of markdown.replace(/<!--[\s\S]*?-->/gu, '').split(/\r?\n/u)) {
    if (open?.kind === 'code') {
      if (row.trimStart().startsWith('```')) open = undefined;
      else open.rows.push(row);
      continue;
    }
    const item = /^(\s*)([-*+]|\d{1,3}[.)])\s+(.*)$/u.exec(row);
    const heading = /^#{1,6}\s+(.*)$/u.exec(row);
    const quote = /^>\s?(.*)$/u.exec(row);
    if (row.trim() === '') open = undefined;
    else if (row.trimStart().startsWith('```')) begin({ kind: 'code', rows: [] });
    else if (heading !== null) {
      begin({ kind: 'heading', text: heading[1] ?? '' });
      open = undefined;
    } else if (item !== null) {
      const depth = Math.min(3, Math.floor((item[1] ?? '').length / 2));
      const tight = open?.kind === 'item';
      begin({
        kind: 'item',
        marker: item[2] ?? '',
        depth,
        tight,
        text: item[3] ?? '',
      });
    } else if (quote !== null) {
      if (open?.kind === 'quote') open.text += ` ${quote[1] ?? ''}`;
      else begin({ kind: 'quote', text: quote[1] ?? '' });
    } else if (open !== undefined && open.kind !== 'heading') open.text += ` ${row.trim()}`;
    else begin({ kind: 'paragraph', text: row.trim() });
  }
  return blocks;
}

const INLINE =
  /\*\*(?<bold>[^*]+)\*\*|(?<!\w)\*(?<stress>[^*\s][^*]*)\*|`(?<code>[^`]+)`|\[(?<link>[^\]]+)\]\((?<target>[^)\s]+)\)/gu;

function inline(text: string): Span[] {
  const spans: Span[] = [];
  const push = (part: string | undefined, token: Token) => {
    if (part !== undefined && part !== '') spans.push(span(part, token));
  };
  let at = 0;
  for (const match of text.matchAll(INLINE)) {
    const { bold, stress, code, link, target } = match.groups ?? {};
    push(text.slice(at, match.index), 'text');
    push(bold ?? stress, 'text.strong');
    push(code, 'text.code');
    if (link !== undefined) push(link === target ? link : `${link} (${target})`, 'text');
    at = match.index + match[0].length;
  }
  push(text.slice(at), 'text');
  return spans;
}
