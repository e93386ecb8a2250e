import { formatSeconds } from '../../base/format.ts';
import type { Report } from '../model/model.ts';
import { type Document, given, type Section, type Text, time } from './document.ts';
import { decidedSections } from './pages-decided.ts';
import { measuredSections } from './pages-measured.ts';
import { provenSections, rotationSections } from './pages-proven.ts';
import { recordSections } from './pages-record.ts';
import { summaryBlocks } from './pages-summary.ts';

/** A report as the document that every renderer writes: so all of them say the same. */
export function pagesOf(report: Report): Document {
  const sections = [
    runSection(report),
    ...measuredSections(report),
    ...provenSections(report),
    ...rotationSections(report),
    ...decidedSections(report),
    ...recordSections(report),
  ];
  return {
    title: report.title,
    mark: markOf(report),
    lead: summaryBlocks(report),
    sections: sections.filter(({ isDetail }) => isDetail !== true),
    appendix: sections.filter(({ isDetail }) => isDetail === true),
    foot:
      `Written ${time(report.generatedAt)} UTC from the journal of the run (${report.schema}). ` +
      'All times are UTC.',
  };
}

/** LIVE or a rehearsal, and which run: what a loose page has to say. */
function markOf({ run }: Report): string {
  return `${run.mode ?? 'mode unknown'}, run ${run.id}`;
}

/** What run it is, who did it when, and with what. */
function runSection(report: Report): Section {
  const { run, people } = report;
  const acting = people.filter(({ roles }) => roles.includes('acted')).map(({ name }) => name);
  const rows: (readonly [string, Text])[] = [
    ['Run', { code: run.id }],
    ['Runbook', run.runbook === undefined ? 'unknown' : `${run.runbook}, version ${run.version}`],
    ['Instance', run.instance ?? 'unknown'],
    ...given('Target', run.target),
    ['Mode', run.mode ?? 'unknown'],
    ['Operator', run.operator ?? 'unknown'],
    ['People who acted', acting.join(', ')],
    ...given('Reason', run.reason),
    ...given('Incident', run.incidentAt),
    ['Started', run.startedAt ?? 'unknown'],
    ['Ended', run.endedAt ?? 'not yet'],
    ['Duration', duration(report)],
    ['Clock', clock(report)],
    [
      'Tool',
      run.tool === undefined ? 'unknown' : `${run.tool.name} ${run.tool.version}, Node ${run.tool.node}`,
    ],
  ];
  return { title: 'The run', blocks: [{ kind: 'facts', caption: 'The run', rows }] };
}

/** By the operator's clock, which may have been set in between. */
function duration({ run }: Report): string {
  if (run.endedAt === undefined) return 'not over';
  if (run.seconds === undefined) return 'unknown: the clock was set back';
  return formatSeconds(run.seconds);
}

function clock({ run }: Report): string {
  const moves = run.clockMovedSeconds.map(
    (seconds) =>
      `moved ${formatSeconds(Math.abs(seconds))} ` +
      `${seconds < 0 ? 'back' : 'ahead'} during the run (durations do not count it)`,
  );
  const own = [
    'that of the machine',
    ...(run.clockSetBack ? ['set back during the run'] : []),
    ...moves,
  ].join(', ');
  const ahead = run.serviceClockAheadSeconds;
  if (ahead === undefined) return `${own}; the clock of the service was not measured`;
  if (ahead === 0) return `${own}; the clock of the service agreed within a second`;
  return `${own}; the clock of the service was ${Math.abs(ahead)} s ${ahead > 0 ? 'ahead' : 'behind'}`;
}
