import { isoOf } from '../../base/date.ts';
import { counted, formatSpan, formatTime } from '../../base/format.ts';
import { msOf } from '../../base/instant.ts';
import { show } from '../../base/text.ts';
import type { DrillDue, DrillRecord, LastDrill } from './drill-report.ts';

/** Milliseconds that the clock of a drill may have been ahead. */
const SKEW_MS = 5 * 60_000;

/** Whether a drill is dated in the future: when it really was is unknown. */
export function isFromFuture(record: DrillRecord, now: Date): boolean {
  return msOf(momentOf(record)) > now.getTime() + SKEW_MS;
}

/**
 * Computes when a drill is due from the earlier drills and the config: an interval after the newest proven
 * one; if none was ever proven, at once. Failed drills and those dated in the future do not count. Pure.
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

/** The drills that do not count because of their time, in words; undefined if all count. */
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
