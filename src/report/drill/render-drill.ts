import { printableJson } from '../../base/text.ts';
import { htmlDocument } from '../render/html-document.ts';
import { markdownDocument } from '../render/markdown-document.ts';
import { drillPages } from './drill-pages.ts';
import type { DrillReport } from './drill-report.ts';

/** The report of a drill in one of its forms; no text of a drill acts in any of them. */
export function renderDrill(report: DrillReport, format: 'md' | 'json' | 'html'): string {
  if (format === 'json') return `${printableJson(report)}\n`;
  const pages = drillPages(report);
  return format === 'md' ? markdownDocument(pages) : htmlDocument(pages);
}
