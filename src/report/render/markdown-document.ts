import { readable } from '../../base/format.ts';
import { show } from '../../base/text.ts';
import type { Brand } from '../brand.ts';
import {
  type Block,
  type Document,
  type Inline,
  inlines,
  linkTarget,
  type Rows,
  type Text,
} from './document.ts';

/** A document as Markdown (GitHub's tables), readable as plain text too. */
export function markdownDocument(document: Document, brand: Brand = {}): string {
  return [...markdownParts(document, brand)].join('');
}

/** The same text in parts, none larger than a block or a row of a table. */
export function* markdownParts(document: Document, { name }: Brand = {}): Generator<string> {
  const { title, lead, sections, appendix = [], mark, foot, footBlocks = [] } = document;
  yield `# ${name === undefined ? '' : `${plain(name)}: `}${plain(title)}${mark === undefined ? '' : ` (${plain(mark)})`}`;
  for (const one of lead) yield* apart(block(one));
  for (const section of [...sections, ...appendix]) {
    yield `\n\n## ${plain(section.title)}`;
    yield* inSection(section.blocks);
  }
  yield* apart([plain(foot, LONGEST)]);
  for (const one of footBlocks) yield* apart(block(one));
  yield '\n';
}

/** After an empty line; nothing for a block without a text. */
function* apart(parts: Iterable<string>): Generator<string> {
  let isFirst = true;
  for (const part of parts) {
    if (part === '') continue;
    yield isFirst ? `\n\n${part}` : part;
    isFirst = false;
  }
}

/** Texts are already cut when the record is made. */
const LONGEST = 4_000;

/** If a section has several tables, each has its caption. */
function* inSection(blocks: readonly Block[]): Generator<string> {
  const several = blocks.filter(({ kind }) => kind === 'table').length > 1;
  for (const one of blocks) {
    if (several && one.kind === 'table') yield `\n\n${plain(one.caption)}:`;
    yield* apart(block(one));
  }
}

function block(one: Block): Iterable<string> {
  switch (one.kind) {
    case 'text':
      return [line(one.text)];
    case 'alarm':
      return [`> **${plain(one.title, LONGEST)}**\n>\n> ${line(one.text)}`];
    case 'facts':
      return table(['', ''], one.rows);
    case 'table':
      return table(one.head, one.rows);
    case 'list':
      return [one.items.map((item) => `- ${line(item)}`).join('\n')];
    case 'tasks':
      return [one.items.map((item) => `- [ ] ${line(item)}`).join('\n')];
    case 'lines':
      return [`${plain(one.caption)}:\n\n${one.lines.map((text) => `    ${text}`).join('\n')}`];
    case 'blanks':
      return [one.labels.map((label) => `- ${plain(label)}: ${FILL_IN}`).join('\n')];
    default:
      return [];
  }
}

/** A gap that cannot be taken for an answer. */
const FILL_IN = '\\_\\_\\_\\_\\_\\_\\_\\_ (to be filled in)';

function line(text: Text): string {
  return inlines(text).map(piece).join('');
}

function piece(one: Inline): string {
  if (typeof one === 'string') return plain(one, LONGEST);
  if ('code' in one) {
    const [text, file] = [code(one.code, LONGEST), linkTarget(one.file)];
    return file === undefined ? text : `[${text}](${file})`;
  }
  if ('typed' in one) return typed(one.typed);
  if ('strong' in one) return `**${plain(one.strong, LONGEST)}**`;
  if ('good' in one) return `**${plain(one.good, LONGEST)}**`;
  if ('bad' in one) return `**${plain(one.bad, LONGEST)}**`;
  return '\\_\\_\\_\\_';
}

/**
 * Untrusted text without formatting, in a paragraph, list item or table cell. GitHub makes formulas of
 * dollars and links of bare addresses; both are escaped.
 */
function plain(text: string, limit?: number): string {
  return readable(text, limit)
    .replace(/[\\`*_[\]|~#!$]|:(?=\/\/)|(?<=\bwww)\./giu, (mark) => `\\${mark}`)
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;');
}

/** Untrusted text as code: characters that could end the span or a table cell become question marks. */
function code(text: string, limit?: number): string {
  // Two adjacent backticks would begin a span that ends at the next such pair.
  return `\`${show(text, limit).replace(/[`|<>]/gu, '?') || ' '}\``;
}

/** A code span with exactly this text, between more backticks than it has in a row. */
function typed(text: string): string {
  const shown = show(text, LONGEST);
  const longest = Math.max(0, ...[...shown.matchAll(/`+/gu)].map(([row]) => row.length));
  const fence = '`'.repeat(longest + 1);
  const gap = longest > 0 ? ' ' : '';
  return `${fence}${gap}${shown}${gap}${fence}`;
}

function* table(head: readonly string[], rows: Rows): Generator<string> {
  const row = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  yield `${row(head.map((text) => plain(text)))}\n${row(head.map(() => '---'))}`;
  for (const cells of rows) yield `\n${row(cells.map(line))}`;
}
