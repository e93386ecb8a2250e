import { printableJson } from '../base/text.ts';
import type { Comparison } from './comparison.ts';
import type { Report } from './model/model.ts';
import type { Document } from './render/document.ts';
import { htmlDocument } from './render/html-document.ts';
import { markdownDocument } from './render/markdown-document.ts';
import { pagesOf } from './render/pages.ts';
import { comparisonPages } from './render/pages-comparison.ts';

export const FORMATS = ['md', 'json', 'html'] as const;
export type ReportFormat = (typeof FORMATS)[number];

/**
 * A report in one of its forms: Markdown, one line of JSON that is exactly the report, or one HTML file that
 * needs nothing else. No text of a journal acts in any of them.
 */
export function renderReport(report: Report, format: ReportFormat): string {
  return render(report, () => pagesOf(report), format);
}

/** The same for two runs side by side. */
export function renderComparison(comparison: Comparison, format: ReportFormat): string {
  return render(comparison, () => comparisonPages(comparison), format);
}

function render(value: Report | Comparison, pages: () => Document, format: ReportFormat): string {
  if (format === 'json') return `${printableJson(value)}\n`;
  return format === 'md' ? markdownDocument(pages()) : htmlDocument(pages());
}
