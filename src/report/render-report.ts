import { printableJson } from '../base/text.ts';
import type { Brand } from './brand.ts';
import { type Comparison, comparisonPages } from './comparison.ts';
import { type DrillReport, drillPages } from './drill/drill-report.ts';
import { type Estate, estatePages } from './estate.ts';
import type { Report } from './model/model.ts';
import { type FileOf, planPages } from './plan/plan-pages.ts';
import type { PlanReport } from './plan/plan-report.ts';
import type { Document } from './render/document.ts';
import { htmlParts } from './render/html-document.ts';
import { markdownParts } from './render/markdown-document.ts';
import { pagesOf } from './render/pages.ts';

export const FORMATS = ['md', 'json', 'html'] as const;
export type ReportFormat = (typeof FORMATS)[number];

/**
 * A report as Markdown, as one line of JSON that is exactly the report, or as one self-contained HTML file.
 * Texts of a journal are inert in all of them. A `brand` heads the page, and does not change the record.
 */
export function renderReport(report: Report, format: ReportFormat, brand: Brand = {}): string {
  return render(report, () => pagesOf(report), format, brand);
}

/** As `renderReport`, for the run of a plan. `fileOf` says where the report of each child is. */
export function renderPlanReport(
  report: PlanReport,
  format: ReportFormat,
  brand: Brand = {},
  fileOf?: FileOf,
): string {
  return render(report, () => planPages(report, fileOf), format, brand);
}

/** The same in parts, one after the other: that of a plan of ten thousand runs takes many MiB. */
export function planReportParts(
  report: PlanReport,
  format: ReportFormat,
  brand: Brand = {},
  fileOf?: FileOf,
): Iterable<string> {
  return parts(report, () => planPages(report, fileOf), format, brand);
}

/** As `renderReport`, for two runs side by side. */
export function renderComparison(comparison: Comparison, format: ReportFormat, brand: Brand = {}): string {
  return render(comparison, () => comparisonPages(comparison), format, brand);
}

export function renderEstate(estate: Estate, format: ReportFormat, brand: Brand = {}): string {
  return render(estate, () => estatePages(estate), format, brand);
}

export function renderDrill(report: DrillReport, format: ReportFormat, brand: Brand = {}): string {
  return render(report, () => drillPages(report), format, brand);
}

type Reported = Report | PlanReport | Comparison | Estate | DrillReport;

function render(value: Reported, pages: () => Document, format: ReportFormat, brand: Brand): string {
  return [...parts(value, pages, format, brand)].join('');
}

function parts(value: Reported, pages: () => Document, format: ReportFormat, brand: Brand): Iterable<string> {
  if (format === 'json') return [`${printableJson(value)}\n`];
  return format === 'md' ? markdownParts(pages(), brand) : htmlParts(pages(), brand);
}
