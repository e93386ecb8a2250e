import * as z from 'zod';
import type { DeepReadonly } from '../../base/deep-readonly.ts';
import { seconds, time } from '../../base/fields.ts';
import { instantOf, msOf } from '../../base/instant.ts';
import { drillDue } from './drill-due.ts';

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

/** The number of drills in a trend. */
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
 * The record that a drill leaves in its folder, `drill.json`, used for schedules, trends and clean-ups. The
 * evidence is the journal beside it. Times RFC 3339 UTC.
 */
export const DrillRecord = z.object({
  schema: z.literal('lifeboat.drill/1'),
  /** The name of its folder. */
  id: z.string(),
  /**
   * What was rehearsed: `full` for all runbooks, or one of them, with the scenario after a comma. Only equal
   * scopes are compared.
   */
  scope: z.string(),
  revision: z.enum(['61', '62']),
  version: z.string(),
  begunAt: Moment,
  endedAt: Moment.optional(),
  /**
   * `running`: under way. `left`: a person left it. `died`: its process is gone without an end; this is never
   * written, but derived for a record that says `running`.
   */
  outcome: z.enum(['running', 'proven', 'not-proven', 'failed', 'left', 'died']),
  /** Why it failed, one line. */
  failure: z.string().optional(),
  chapters: z.array(DrillChapter),
});
export type DrillRecord = z.infer<typeof DrillRecord>;

const LastDrill = z.object({
  id: z.string(),
  scope: z.string(),
  outcome: z.string(),
  at: time,
  ageSeconds: seconds,
});
export interface LastDrill extends Readonly<z.infer<typeof LastDrill>> {
  readonly outcome: DrillRecord['outcome'];
}

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
