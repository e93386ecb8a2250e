import { SEGMENT_BYTES } from '../engine/engine.ts';

/** Where a segment, a file of the log, belongs. */
export interface Segment {
  readonly timeline: number;
  /** Segments of all timelines count on: a branch begins with the number of the segment that it leaves. */
  readonly number: number;
}

/** A stretch that a timeline took over from the one before: up to this position it is the log of that one. */
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

/** `00000002.history`: the ancestors of a timeline. */
export function isHistory(name: string): boolean {
  return /^[0-9A-F]{8}\.history$/u.test(name);
}

export function historyName(timeline: number): string {
  return `${timeline.toString(16).toUpperCase().padStart(8, '0')}.history`;
}

/** Lines of timeline, position and reason; anything after `#` is a comment. */
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

/** The number of the segment that holds a position. */
export function segmentAt(lsn: bigint): number {
  return Number(lsn / BigInt(SEGMENT_BYTES));
}
