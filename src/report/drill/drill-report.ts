import * as z from 'zod';
import { isoOf } from '../../base/date.ts';
import type { DeepReadonly } from '../../base/deep-readonly.ts';
import { seconds, time } from '../../base/fields.ts';
import { counted, formatSeconds, formatSpan, formatTime } from '../../base/format.ts';
import { instantOf, msOf } from '../../base/instant.ts';
import { show } from '../../base/text.ts';
import {
  type Block,
  type Document,
  given,
  type Inline,
  paragraph,
  type Section,
  time as shownTime,
  type Text,
  tableOr,
} from '../render/document.ts';

/** One drill in a trend. Times in seconds. */
export interface TrendRow {
  readonly id: string;
  readonly at: string;
  readonly outcome: DrillChapter['outcome'];
  readonly rtoSeconds: number | undefined;
  readonly rpoSeconds: number | undefined;
  /** Undefined if it was not measured, or there is no objective. */
  readonly meetsRto: boolean | undefined;
  readonly meetsRpo: boolean | undefined;
}

/** The same chapter in the drills of the same scope, oldest first; the last row is this drill. */
export interface Trend {
  readonly runbook: string;
  readonly title: string;
  readonly objectives: DrillChapter['objectives'];
  readonly rows: readonly TrendRow[];
}

/** The result of a drill, its comparison with earlier ones, and when the next is due. */
export interface DrillReport {
  readonly schema: 'lifeboat.drill-report/1';
  readonly drill: DrillRecord;
  readonly trends: readonly Trend[];
  readonly due: DrillDue;
}

const MAX = 12;

/** The report of a drill from its record and those of earlier drills. Pure. */
export function drillReportOf(
  drill: DrillRecord,
  before: readonly DrillRecord[],
  everyMs: number | undefined,
  now: Date,
): DrillReport {
  const others = before.filter(({ id }) => id !== drill.id);
  const alike = others
    .filter(({ scope, revision }) => scope === drill.scope && revision === drill.revision)
    .toSorted((one, other) => msOf(one.begunAt) - msOf(other.begunAt));
  const trends = drill.chapters.map(({ runbook, title, objectives }) => ({
    runbook,
    title,
    objectives,
    rows: [...alike, drill].flatMap((one) => trendRows(one, title)).slice(-MAX),
  }));
  return {
    schema: 'lifeboat.drill-report/1',
    drill,
    trends,
    due: drillDue([...others, drill], everyMs, now),
  };
}

function trendRows({ id, begunAt, chapters }: DrillRecord, title: string): TrendRow[] {
  return chapters
    .filter((chapter) => chapter.title === title && chapter.outcome !== 'unplayed')
    .map(({ outcome, rtoSeconds, rpoSeconds, objectives }) => ({
      id,
      at: begunAt,
      outcome,
      rtoSeconds,
      rpoSeconds,
      meetsRto: meets(rtoSeconds, objectives.rtoSeconds),
      meetsRpo: meets(rpoSeconds, objectives.rpoSeconds),
    }));
}

function meets(seconds: number | undefined, limit: number | undefined): boolean | undefined {
  return seconds === undefined || limit === undefined ? undefined : seconds <= limit;
}

/** One chapter in the record of a drill. Times in seconds. */
const DrillChapter = z.object({
  runbook: z.string(),
  title: z.string(),
  instance: z.string(),
  runIds: z.array(z.string()),
  /** `broken`: its run did not close. `unplayed`: the drill had ended before. */
  outcome: z.enum(['proven', 'not-proven', 'broken', 'unplayed']),
  seconds: z.number(),
  checks: z.array(z.object({ what: z.string(), holds: z.boolean() })),
  tables: z.array(z.object({ name: z.string(), rows: z.number(), equal: z.boolean() })),
  rtoSeconds: z.number().optional(),
  rpoSeconds: z.number().optional(),
  objectives: z.object({ rtoSeconds: z.number().optional(), rpoSeconds: z.number().optional() }),
});
export type DrillChapter = z.infer<typeof DrillChapter>;

/** Everything is computed from these times, so they must be valid. */
const Moment = z.string().refine((text) => instantOf(text) !== undefined);

/**
 * The record in a drill's folder, `drill.json`, for schedules, trends and clean-ups. The evidence is the
 * journal beside it. Times RFC 3339 UTC.
 */
export const DrillRecord = z.object({
  schema: z.literal('lifeboat.drill/1'),
  /** The name of its folder. */
  id: z.string(),
  /** `full` for all runbooks, or one with its scenario after a comma. Only equal scopes are compared. */
  scope: z.string(),
  revision: z.enum(['61', '62']),
  version: z.string(),
  begunAt: Moment,
  endedAt: Moment.optional(),
  /** `left`: a person left it. `died`: its process is gone; derived for a record that says `running`. */
  outcome: z.enum(['running', 'proven', 'not-proven', 'failed', 'left', 'died']),
  /** Why it failed, one line. */
  failure: z.string().optional(),
  chapters: z.array(DrillChapter),
});
export type DrillRecord = z.infer<typeof DrillRecord>;

const LastDrill = z.object({
  id: z.string(),
  scope: z.string(),
  outcome: DrillRecord.shape.outcome,
  at: time,
  ageSeconds: seconds,
});
type LastDrill = Readonly<z.infer<typeof LastDrill>>;

export const DrillDue = z.object({
  lastProven: LastDrill.optional(),
  last: LastDrill.optional().describe('the newest that is over, whatever came of it'),
  everySeconds: seconds.optional().describe('as the config asks; without it none is ever due'),
  dueAt: time.optional(),
  isOverdue: z.boolean(),
  fromFuture: z
    .array(z.string())
    .describe('drills of a time still to come, which count for nothing: a clock was wrong'),
});
export interface DrillDue extends DeepReadonly<z.infer<typeof DrillDue>> {
  readonly lastProven?: LastDrill | undefined;
  readonly last?: LastDrill | undefined;
}

/** Milliseconds that the clock of a drill may have been ahead. */
const SKEW_MS = 5 * 60_000;

/** Whether a drill is dated in the future: its real time is unknown. */
export function isFromFuture(record: DrillRecord, now: Date): boolean {
  return msOf(momentOf(record)) > now.getTime() + SKEW_MS;
}

/**
 * When a drill is due: an interval after the newest proven one; at once if none was proven. Failed drills and
 * those dated in the future do not count. Pure.
 */
export function drillDue(records: readonly DrillRecord[], everyMs: number | undefined, now: Date): DrillDue {
  const inOrder = records
    .filter((record) => !isFromFuture(record, now))
    .toSorted((one, other) => msOf(momentOf(other)) - msOf(momentOf(one)));
  const last = inOrder.find(({ outcome }) => outcome !== 'running');
  const proven = inOrder.find(({ outcome }) => outcome === 'proven');
  const dueMs = everyMs === undefined ? undefined : proven ? msOf(momentOf(proven)) + everyMs : now.getTime();
  return {
    lastProven: proven && lastOf(proven, now),
    last: last && lastOf(last, now),
    everySeconds: everyMs === undefined ? undefined : everyMs / 1000,
    dueAt: dueMs === undefined ? undefined : isoOf(dueMs),
    isOverdue: dueMs !== undefined && dueMs <= now.getTime(),
    fromFuture: records.filter((record) => isFromFuture(record, now)).map(({ id }) => id),
  };
}

function lastOf(record: DrillRecord, now: Date): LastDrill {
  const { id, scope, outcome } = record;
  const at = momentOf(record);
  return { id, scope, outcome, at, ageSeconds: Math.max(0, (now.getTime() - msOf(at)) / 1000) };
}

function momentOf({ endedAt, begunAt }: DrillRecord): string {
  return endedAt ?? begunAt;
}

/** The outcome of a drill, to follow "the last was". */
export const DRILL_WORDS: Readonly<Record<DrillRecord['outcome'], string>> = {
  proven: 'proven',
  'not-proven': 'NOT PROVEN',
  failed: 'a FAILURE',
  left: 'left before its end',
  running: 'without an end',
  died: 'CUT OFF',
};

/** Whether a drill failed. One that a person left did not. */
export function isFailure({ outcome }: Pick<DrillRecord, 'outcome'>): boolean {
  return outcome === 'failed' || outcome === 'not-proven' || outcome === 'died';
}

export function dueWords({ dueAt, isOverdue, lastProven, everySeconds }: DrillDue): string {
  if (dueAt === undefined || everySeconds === undefined) return 'no interval is set (config: drills.every)';
  const every = `every ${daysOf(everySeconds)}`;
  if (lastProven === undefined) return `now: no drill has been proven yet (${every})`;
  return isOverdue
    ? `OVERDUE since ${formatTime(dueAt)} UTC (${every})`
    : `${formatTime(dueAt)} UTC (${every})`;
}

/** The drills that do not count because of their time; undefined if all count. */
export function futureDrillWords({ fromFuture }: Pick<DrillDue, 'fromFuture'>): string | undefined {
  if (fromFuture.length === 0) return undefined;
  const names = fromFuture.slice(0, 3).map((id) => show(id, 40));
  const more = fromFuture.length > names.length ? ', …' : '';
  const what = `${counted(fromFuture.length, 'drill')} of a time still to come`;
  return `nothing is counted from ${what}: ${names.join(', ')}${more}`;
}

/** `90 days`, or hours and minutes if it is not whole days. */
function daysOf(seconds: number): string {
  const days = seconds / 86_400;
  return Number.isInteger(days) ? counted(days, 'day') : formatSpan(seconds);
}

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
    ['Begun', `${shownTime(drill.begunAt)} UTC`],
    ...given('Ended', drill.endedAt && `${shownTime(drill.endedAt)} UTC`),
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
    shownTime(row.at),
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
