import { counted, formatSpan, formatTime } from '../../base/format.ts';
import type { DrillDue } from './drill-due.ts';

/** When the next drill is due, in words. */
export function dueWords({ dueAt, isOverdue, lastProven, everySeconds }: DrillDue): string {
  if (dueAt === undefined || everySeconds === undefined) return 'no interval is set (config: drills.every)';
  const every = `every ${daysOf(everySeconds)}`;
  if (lastProven === undefined) return `now: no drill was proven yet (${every})`;
  return isOverdue
    ? `OVERDUE since ${formatTime(dueAt)} UTC (${every})`
    : `${formatTime(dueAt)} UTC (${every})`;
}

/** `90 days`, or hours and minutes where it is not whole days. */
function daysOf(seconds: number): string {
  const days = seconds / 86_400;
  return Number.isInteger(days) ? counted(days, 'day') : formatSpan(seconds);
}
