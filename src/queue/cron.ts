import { CronExpressionParser } from 'cron-parser';
import { dateAt } from '../base/date.ts';
import { EXIT, LifeboatError } from '../base/errors.ts';
import { show } from '../base/text.ts';
import type { Schedule } from './queue.ts';

export type Recurrence = Pick<Schedule, 'cron' | 'zone'>;

const [HOUR, DAY] = [3_600_000, 86_400_000];

/**
 * How many ms before a moment the walk starts. If it started inside the hour that a clock change repeats or
 * skips, it would find a daily occurrence twice or not at all.
 */
const LEAD = 3 * HOUR;

/**
 * The next times after a moment. When the clocks change, a daily time is due once: if its hour is skipped,
 * that much later; if its hour repeats, the first time.
 */
export function nextTimes(recurrence: Recurrence, after: Date, count = 5): readonly Date[] {
  const times: Date[] = [];
  for (const time of timesAfter(recurrence, after)) {
    times.push(time);
    if (times.length >= count) break;
  }
  return times;
}

/** The last time after one moment and not after the other. */
export function lastTime(recurrence: Recurrence, after: Date, until: Date): Date | undefined {
  // Backwards in growing steps: the walk only goes forwards, and a schedule may be due every minute.
  for (const span of [HOUR, 2 * DAY, 40 * DAY, 400 * DAY, Number.POSITIVE_INFINITY]) {
    const from = Math.max(after.getTime(), until.getTime() - span);
    let last: Date | undefined;
    for (const time of timesAfter(recurrence, dateAt(from))) {
      if (time > until) break;
      last = time;
    }
    if (last !== undefined || from === after.getTime()) return last;
  }
  return undefined;
}

/** Throws `queue.schedule` if it cannot be read or is never due. */
export function assertRecurrence({ name, cron, zone }: Pick<Schedule, 'name' | 'cron' | 'zone'>): void {
  const refuse = (why: string, hint = FIELDS) =>
    new LifeboatError('queue.schedule', `the schedule ${show(name, 60)} cannot be kept: ${why}`, {
      hints: [hint, 'correct it in lifeboat.yaml, and look: lifeboat schedules'],
      exitCode: EXIT.usage,
    });
  // The parser also knows a sixth field for seconds, names such as @daily, and H for any time.
  if (!FIVE_FIELDS.test(cron)) throw refuse(`${show(cron, 60)} does not have five fields`);
  try {
    nextTimes({ cron, zone: 'UTC' }, dateAt(0), 1);
  } catch (error) {
    throw refuse(`${show(cron, 60)}: ${whyNever(error)}`);
  }
  if (!isZone(zone)) throw refuse(`there is no time zone ${show(zone, 60)}`, 'such as Europe/Berlin, or UTC');
}

const FIELDS = 'five fields are minute, hour, day of the month, month, day of the week: `30 2 * * 1-5`';

/** From the message of cron-parser's `CronExpressionParser`, which names the value and its range. */
function whyNever(error: unknown): string {
  const message = error instanceof Error ? error.message : '';
  const [, value, range] = /got value (\S+),? expected range (\S+)/u.exec(message) ?? [];
  if (value !== undefined) return `${show(value, 20)} is not within ${show(range ?? '', 20)}`;
  return /loop limit|never|day of month/iu.test(message) ? 'there is no such day' : 'it cannot be read';
}

/** No H at the start of a field or after a comma. */
const FIVE_FIELDS = /^\s*(?:(?!H)(?!\S*,H)[\w*/,#?-]+(?:\s+|$)){5}$/;

function isZone(zone: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: zone });
    return true;
  } catch {
    return false;
  }
}

function* timesAfter({ cron, zone }: Recurrence, after: Date): Generator<Date> {
  const walk = CronExpressionParser.parse(cron, {
    tz: zone,
    currentDate: dateAt(after.getTime() - LEAD),
  });
  for (;;) {
    const time = walk.next().toDate();
    if (time > after) yield time;
  }
}
