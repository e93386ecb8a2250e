import type { Report } from '../model/model.ts';
import type { Document } from './document.ts';
import { decidedSections } from './pages-decided.ts';
import { measuredSections } from './pages-measured.ts';
import { provenSections } from './pages-proven.ts';
import { recordSections } from './pages-record.ts';
import { rotationSections } from './pages-rotation.ts';
import { runSection } from './pages-run.ts';
import { summaryBlocks } from './pages-summary.ts';
import { time } from './words.ts';

/** A report as the document that every renderer writes: so all of them say the same. */
export function pagesOf(report: Report): Document {
  return {
    title: report.title,
    lead: summaryBlocks(report),
    sections: [
      runSection(report),
      ...measuredSections(report),
      ...provenSections(report),
      ...rotationSections(report),
      ...decidedSections(report),
      ...recordSections(report),
    ],
    foot:
      `Written ${time(report.generatedAt)} UTC from the journal of the run (${report.schema}). ` +
      'All times are UTC.',
  };
}
