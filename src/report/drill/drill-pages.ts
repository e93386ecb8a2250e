import { counted, formatSeconds } from '../../base/format.ts';
import {
  type Block,
  type Document,
  given,
  type Inline,
  paragraph,
  type Section,
  type Text,
  tableOr,
  time,
} from '../render/document.ts';
import {
  type DrillChapter,
  type DrillDue,
  type DrillRecord,
  type DrillReport,
  dueWords,
  type Trend,
  type TrendRow,
} from './drill-report.ts';

export function drillPages({ drill, trends, due }: DrillReport): Document {
  return {
    title: `Drill ${drill.id}: ${drill.scope}`,
    lead: [{ kind: 'facts', caption: 'The drill', rows: factRows(drill, due) }],
    sections: [
      { title: 'Chapters', blocks: [chapterTable(drill.chapters), ...notTrue(drill.chapters)] },
      ...trends.map(trendSection),
    ],
    foot: 'From the records of the drills; the journal of each is in its folder. All times are UTC.',
  };
}

function factRows(drill: DrillRecord, due: DrillDue): [string, Text][] {
  return [
    ['Outcome', OUTCOMES[drill.outcome]],
    ['Scope', drill.scope],
    ['Begun', `${time(drill.begunAt)} UTC`],
    ...given('Ended', drill.endedAt && `${time(drill.endedAt)} UTC`),
    ...given('Why it failed', drill.failure),
    ['Service', `the lab, revision ${drill.revision}, on PostgreSQL`],
    ['Lifeboat', drill.version],
    ['Next drill due', dueWords(due)],
  ];
}

const OUTCOMES: Readonly<Record<DrillRecord['outcome'] | DrillChapter['outcome'], Inline>> = {
  proven: { good: 'proven' },
  'not-proven': { bad: 'NOT PROVEN' },
  failed: { bad: 'FAILED' },
  broken: { bad: 'its run did not close' },
  left: { bad: 'left early' },
  running: { bad: 'no end on record' },
  died: { bad: 'CUT OFF' },
  unplayed: { bad: 'not played' },
};

function chapterTable(chapters: readonly DrillChapter[]): Block {
  const head = ['Chapter', 'Runbook', 'Outcome', 'Rows compared', 'RTO', 'RPO', 'Took'];
  const rows = chapters.map((chapter): Text[] => [
    chapter.title,
    { code: chapter.runbook },
    OUTCOMES[chapter.outcome],
    String(chapter.tables.reduce((sum, table) => sum + table.rows, 0)),
    against(chapter.rtoSeconds, chapter.objectives.rtoSeconds),
    against(chapter.rpoSeconds, chapter.objectives.rpoSeconds),
    formatSeconds(chapter.seconds),
  ]);
  return tableOr('No chapter was played.', 'The chapters of the drill', head, rows);
}

function notTrue(chapters: readonly DrillChapter[]): Block[] {
  const items = chapters.flatMap(({ title, checks, tables }): Text[] => [
    ...checks
      .filter(({ holds }) => !holds)
      .map(({ what }): Text => [{ bad: 'Not true' }, `: ${title}: ${what}`]),
    ...tables
      .filter(({ equal }) => !equal)
      .map(({ name }): Text => [{ bad: 'Different' }, `: ${title}: table ${name}`]),
  ]);
  return items.length === 0 ? [] : [{ kind: 'list', items }];
}

function trendSection({ title, objectives, rows }: Trend): Section {
  const head = ['Drill', 'Started (UTC)', 'Outcome', 'RTO', 'RPO'];
  const measured = rows.map((row): Text[] => [
    { code: row.id },
    time(row.at),
    OUTCOMES[row.outcome],
    held(row.rtoSeconds, row.meetsRto),
    held(row.rpoSeconds, row.meetsRpo),
  ]);
  const goals = [
    ...(objectives.rtoSeconds === undefined ? [] : [`RTO ${formatSeconds(objectives.rtoSeconds)}`]),
    ...(objectives.rpoSeconds === undefined ? [] : [`RPO ${formatSeconds(objectives.rpoSeconds)}`]),
  ];
  const objective = goals.length === 0 ? 'no objective is set' : `objectives: ${goals.join(', ')}`;
  return {
    title: `Trend: ${title}`,
    blocks: [
      paragraph(
        `Of this scope: ${counted(rows.length, 'drill')}, oldest first; ${objective}.${changeWords(rows)}`,
      ),
      tableOr('It was not played.', `The last drills: ${title}`, head, measured),
    ],
  };
}

/** How the recovery time compares with the last drill that measured one. */
function changeWords(rows: readonly TrendRow[]): string {
  const times = rows.flatMap(({ rtoSeconds }) => (rtoSeconds === undefined ? [] : [rtoSeconds]));
  const [before, now] = times.slice(-2);
  if (before === undefined || now === undefined || rows.at(-1)?.rtoSeconds === undefined) return '';
  const change = now - before;
  if (Math.abs(change) < 0.05) return ' The RTO is the same as in the drill before.';
  const [by, how] = [formatSeconds(Math.abs(change)), change > 0 ? 'longer' : 'shorter'];
  return ` The RTO is ${by} ${how} than in the drill before.`;
}

function against(seconds: number | undefined, limit: number | undefined): Text {
  return held(seconds, seconds === undefined || limit === undefined ? undefined : seconds <= limit);
}

function held(seconds: number | undefined, meets: boolean | undefined): Text {
  if (seconds === undefined) return 'not measured';
  const text = formatSeconds(seconds);
  if (meets === undefined) return text;
  return [`${text} `, meets ? { good: 'met' } : { bad: 'MISSED' }];
}
