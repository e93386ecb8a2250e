import { readable } from '../base/format.ts';
import { show } from '../base/text.ts';

/**
 * Untrusted text as it stands inside a Markdown paragraph, list item or table cell: readable, and nothing in
 * it formats. GitHub makes formulas of dollars, and links of addresses that stand alone; these do not.
 */
export function plain(text: string, limit?: number): string {
  return readable(text, limit)
    .replace(/[\\`*_[\]|~#!$]|:(?=\/\/)|(?<=\bwww)\./giu, (mark) => `\\${mark}`)
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;');
}

/**
 * Untrusted text in a code span, for ids and hashes: what could end the span or a table cell becomes a
 * question mark.
 */
export function code(text: string, limit?: number): string {
  // Two marks with nothing between them would begin a span that ends at the next such pair.
  return `\`${show(text, limit).replace(/[`|<>]/gu, '?') || ' '}\``;
}

/** A table of cells that are Markdown already. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}
