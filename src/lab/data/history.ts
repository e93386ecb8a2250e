import { SEGMENT_BYTES } from '../engine/empty-database.ts';
import type { BaseBackupFacts } from './instance-data.ts';

/**
 * The database's time on one timeline. Each restore ends a span and begins the next, on a timeline with a new
 * number. Data written after the restored point stays on the old timeline.
 */
export interface TimelineSpan {
  readonly timeline: number;
  /** Milliseconds since 1970. The span ends where the next begins. */
  readonly from: number;
  readonly ancestors: readonly Ancestor[];
}

/** A restore can start from it. */
export interface KeptBackup {
  readonly id: string;
  readonly timeline: number;
  readonly start: bigint;
  readonly end: bigint;
  /** Milliseconds since 1970. */
  readonly stoppedAt: number;
}

/** Of one archive; spans are oldest first. */
export interface History {
  readonly spans: readonly TimelineSpan[];
  readonly backups: readonly KeptBackup[];
}

/** Milliseconds since 1970, both included. */
export interface Interval {
  readonly start: number;
  readonly end: number;
}

/** How a time is reached. */
export interface Route {
  readonly backup: KeptBackup;
  readonly span: TimelineSpan;
  /** Nothing more is written to the span's timeline. */
  readonly isOver: boolean;
}

/** The newest interval without a gap that can be restored to, if the log is archived up to `end`. */
export function reachable({ spans, backups }: History, end: number): Interval | undefined {
  let found: Interval | undefined;
  for (const [index, span] of [...spans.entries()].reverse()) {
    const last = endOf(spans, index) ?? end;
    const first = Math.min(...startsOf(span, backups).map(({ stoppedAt }) => stoppedAt));
    if (first <= last) found = { start: Math.max(first, span.from), end: found?.end ?? last };
    else if (found !== undefined) return found;
    if (found !== undefined && first > span.from) return found;
  }
  return found;
}

/**
 * Along the timeline of that time, from the newest earlier backup, if any. Another timeline or a later backup
 * would restore the wrong state without an error.
 */
export function routeTo({ spans, backups }: History, time: number): Route | undefined {
  const index = spans.findLastIndex(({ from }) => from <= time);
  const span = spans[index];
  if (span === undefined) return undefined;
  const backup = startsOf(span, backups)
    .filter(({ stoppedAt }) => stoppedAt <= time)
    .reduce<KeptBackup | undefined>(
      (best, next) => (best !== undefined && best.end > next.end ? best : next),
      undefined,
    );
  return backup && { backup, span, isOver: endOf(spans, index) !== undefined };
}

/** Undefined if unknown. */
export function firstSegmentNeeded(backups: readonly KeptBackup[]): number | undefined {
  const numbers = backups.map(({ start }) => segmentAt(start));
  return numbers.length === 0 ? undefined : Math.min(...numbers);
}

export function keptBackup(id: string, facts: BaseBackupFacts): KeptBackup {
  return {
    id,
    timeline: facts.timeline,
    start: parseLsn(facts.startLsn),
    end: parseLsn(facts.endLsn),
    stoppedAt: facts.stoppedAt.getTime(),
  };
}

/** Backups on the span's timeline, and on an ancestor if they ended before the branch. */
function startsOf(span: TimelineSpan, backups: readonly KeptBackup[]): KeptBackup[] {
  return backups.filter(
    (backup) =>
      backup.timeline === span.timeline ||
      span.ancestors.some(({ timeline, end }) => timeline === backup.timeline && backup.end <= end),
  );
}

function endOf(spans: readonly TimelineSpan[], index: number): number | undefined {
  const next = spans[index + 1];
  return next === undefined ? undefined : next.from - 1;
}

/** A file of the log. */
interface Segment {
  readonly timeline: number;
  /** All timelines count on: a branch begins with the number of the segment that it leaves. */
  readonly number: number;
}

/** Log that a timeline inherits from the one before, up to this position. */
export interface Ancestor {
  readonly timeline: number;
  readonly end: bigint;
}

/** `000000010000000000000009`: timeline, then the position; undefined for any other name. */
export function segmentOf(name: string): Segment | undefined {
  const parts = /^([0-9A-F]{8})([0-9A-F]{8})([0-9A-F]{8})$/u.exec(name);
  if (parts === null) return undefined;
  const [timeline = 0, high = 0, low = 0] = parts.slice(1).map((part) => Number.parseInt(part, 16));
  return { timeline, number: high * (2 ** 32 / SEGMENT_BYTES) + low };
}

/** `00000002.history`: a timeline's ancestors. */
export function isHistory(name: string): boolean {
  return /^[0-9A-F]{8}\.history$/u.test(name);
}

export function historyName(timeline: number): string {
  return `${timeline.toString(16).toUpperCase().padStart(8, '0')}.history`;
}

/** Lines of timeline, position and reason; `#` begins a comment. */
export function parseHistory(text: string): Ancestor[] {
  return text.split('\n').flatMap((line) => {
    const [, timeline, lsn] = /^\s*(\d+)\s+([0-9A-F]+\/[0-9A-F]+)/u.exec(line) ?? [];
    return timeline === undefined || lsn === undefined
      ? []
      : [{ timeline: Number(timeline), end: parseLsn(lsn) }];
  });
}

/** `0/900898`: a position in the log, in bytes. */
export function parseLsn(text: string): bigint {
  const [high = '', low = ''] = text.split('/');
  return (BigInt(`0x${high}`) << 32n) + BigInt(`0x${low}`);
}

export function segmentAt(lsn: bigint): number {
  return Number(lsn / BigInt(SEGMENT_BYTES));
}
