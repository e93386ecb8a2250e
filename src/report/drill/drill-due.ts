import { isoOf } from '../../base/date.ts';
import { counted, formatSpan, formatTime } from '../../base/format.ts';
import { msOf } from '../../base/instant.ts';
import type { DrillRecord } from './drill-report.ts';

/** When the next drill is due. Times RFC 3339 UTC, lengths in seconds. */
export interface DrillDue {
  /** The newest drill that was proven, and the newest that was begun, proven or not. */
  readonly lastProven: LastDrill | undefined;
  readonly last: LastDrill | undefined;
  /** `drills: {every: …}` of the config; without it none is ever due. */
  readonly everySeconds: number | undefined;
  readonly dueAt: string | undefined;
  readonly isOverdue: boolean;
}

export interface LastDrill {
  readonly id: string;
  readonly scope: string;
  readonly outcome: DrillRecord['outcome'];
  readonly at: string;
  readonly ageSeconds: number;
}

/**
 * From the drills that were made and the config: due is the next one so long after the newest that was
 * proven; where none ever was, at once. One that failed counts for nothing. Pure.
 */
export function drillDue(records: readonly DrillRecord[], everyMs: number | undefined, now: Date): DrillDue {
  const inOrder = records.toSorted((one, other) => msOf(momentOf(other)) - msOf(momentOf(one)));
  const last = inOrder.find(({ outcome }) => outcome !== 'running');
  const proven = inOrder.find(({ outcome }) => outcome === 'proven');
  const dueMs = everyMs === undefined ? undefined : proven ? msOf(momentOf(proven)) + everyMs : now.getTime();
  return {
    lastProven: proven && lastOf(proven, now),
    last: last && lastOf(last, now),
    everySeconds: everyMs === undefined ? undefined : everyMs / 1000,
    dueAt: dueMs === undefined ? undefined : isoOf(dueMs),
    isOverdue: dueMs !== undefined && dueMs <= now.getTime(),
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

/** When the next drill is due, in words. */
export function dueWords({ dueAt, isOverdue, lastProven, everySeconds }: DrillDue): string {
  if (dueAt === undefined || everySeconds === undefined) return 'no interval is set (config: drills.every)';
  const every = `every ${daysOf(everySeconds)}`;
  if (lastProven === undefined) return `now: no drill has been proven yet (${every})`;
  return isOverdue
    ? `OVERDUE since ${formatTime(dueAt)} UTC (${every})`
    : `${formatTime(dueAt)} UTC (${every})`;
}

/** `90 days`, or hours and minutes where it is not whole days. */
function daysOf(seconds: number): string {
  const days = seconds / 86_400;
  return Number.isInteger(days) ? counted(days, 'day') : formatSpan(seconds);
}
