import { isoOf } from '../../base/date.ts';
import { counted, formatSpan, formatTime } from '../../base/format.ts';
import { msOf } from '../../base/instant.ts';
import { briefly } from '../../view/follow-up-words.ts';
import type { Asked, FollowUpRow, Head, Objective, Shared } from '../page.ts';

export interface Moment {
  readonly at: Date;
  readonly log: Head['log'];
}

/** In place of the driver of an open run that no process holds. */
export const UNDRIVEN = 'nobody drives it';

export interface Said {
  readonly mode: 'LIVE' | 'REHEARSAL';
  /** What it is about: `restore-backup of orders`. */
  readonly what: string;
  readonly state: string;
  /** Since when the state is this one; undefined for what is over, which says when it ended. */
  readonly sinceMs: number | undefined;
  /** Who drives it; undefined once it is over. */
  readonly driver: string | undefined;
  readonly asks: readonly Asked[];
}

/** `LIVE: restore-backup of orders: restoring, since …; driven by Ada on box; waits for nobody`. */
export function headlineOf(said: Said, at: Date): string {
  const { mode, what, state, driver } = said;
  return [
    `${mode}: ${what}: ${state}${sinceWords(said, at)}`,
    ...(driver === undefined ? [] : [driver, waitsWords(said.asks)]),
  ].join('; ');
}

function sinceWords({ sinceMs }: Pick<Said, 'sinceMs'>, at: Date): string {
  if (sinceMs === undefined || !Number.isFinite(sinceMs)) return '';
  const seconds = Math.max(0, (at.getTime() - sinceMs) / 1000);
  return `, since ${formatTime(isoOf(sinceMs))} UTC (${briefly(seconds)})`;
}

/** The first question, and how many more there are. */
export function waitsWords(asks: readonly Asked[]): string {
  const [first, ...others] = asks;
  if (first === undefined) return 'waits for nobody';
  const more = others.length === 0 ? '' : ` and ${counted(others.length, 'more question')}`;
  const by = first.count > 1 ? ` (${first.count} ask this)` : '';
  return `waits for ${first.whom}: ${first.prompt}${by}${more}`;
}

/** `RTO: 12 min 4 s of 1 h`, with its verdict once there is one. */
export function objectiveWords(
  { name, limit, value }: { name: string; limit: number | undefined; value: number | undefined },
  verdict?: string,
): string {
  const of = limit === undefined ? ', no objective is set' : ` of ${formatSpan(limit)}`;
  const used = value === undefined ? 'not measured yet' : formatSpan(value);
  return `${name}: ${used}${of}${verdict === undefined ? '' : `: ${verdict}`}`;
}

interface Pasted extends Pick<Shared, 'asks' | 'followUps' | 'more'> {
  readonly objectives?: readonly Objective[];
  readonly forecast?: string | undefined;
  readonly lines?: readonly string[];
}

/** The page in plain text, for a channel or a ticket. */
export function textOf(headline: string, pasted: Pasted, { at, log }: Moment): string {
  const { asks, followUps, more, objectives = [], forecast, lines = [] } = pasted;
  return [
    headline,
    ...objectives.map(({ words }) => words),
    ...(forecast === undefined ? [] : [`forecast: ${forecast}`]),
    ...lines,
    ...asks.slice(0, MAX_ROWS).map(({ prompt, whom }) => `asks ${whom}: ${prompt}`),
    `open follow-ups: ${followUps.length + more.followUps}`,
    ...followUps.slice(0, MAX_ROWS).map((one) => `- ${followUpWords(one)}`),
    `as of ${formatTime(at.toISOString())} UTC, log size ${log.size}`,
  ].join('\n');
}

const MAX_ROWS = 5;

/** `bind orders-api again (owner Ada, open 2h, due in 4h)`. */
export function followUpWords({ what, owner, ageSeconds, leftSeconds }: FollowUpRow): string {
  const open = ageSeconds === undefined ? '' : `, open ${briefly(ageSeconds)}`;
  return `${what} (owner ${owner}${open}${dueWords(leftSeconds)})`;
}

function dueWords(left: number | undefined): string {
  if (left === undefined) return '';
  return left < 0 ? `, OVERDUE by ${briefly(-left)}` : `, due in ${briefly(left)}`;
}

/** How far back changes are shown. Milliseconds. */
const CHANGES_MS = 10 * 60_000;

/** Whether something happened within the last ten minutes. */
export function isRecent(at: string, now: Date): boolean {
  return msOf(at) > now.getTime() - CHANGES_MS;
}
