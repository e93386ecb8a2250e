import { setTimeout as pause } from 'node:timers/promises';

/**
 * The service's time. Jumps and a faster pace make days pass in a moment, while PostgreSQL keeps real time;
 * this clock converts between the two, in both directions.
 */
export interface LabClock {
  /** Skew included. */
  now(): Date;
  /** The real moment of a service time; for a time that a jump skipped, the moment of the jump. */
  toReal(shown: Date): Date;
  fromReal(real: Date): Date;
  /** Throws a RangeError for a negative duration, and beyond the year 9998. */
  advance(ms: number): void;
  /** From now on: 60 makes a minute of each second. Throws a RangeError below 1. */
  rate(factor: number): void;
  /** The error of the service's clock, in either direction. Real events keep their time. */
  skew(ms: number): void;
  facts(): { readonly now: Date; readonly rate: number; readonly skewMs: number; readonly aheadMs: number };
  /** Resolves when the service's clock reaches that time, or at once if the signal is aborted. */
  until(shown: Date, signal: AbortSignal): Promise<void>;
  onChange(listener: () => void): void;
}

/** From `real` on, time is `lab` plus `rate` for each real millisecond. */
export interface Stretch {
  readonly real: number;
  readonly lab: number;
  readonly rate: number;
}

/** Oldest first; before the first, time is real. Each begins where its predecessor ends, or later. */
export type Course = readonly Stretch[];

/** Shows real time until `advance`, `rate` or `skew` changes it. */
export function createLabClock(realNow: () => number = Date.now): LabClock {
  let course: Course = [];
  let skewMs = 0;
  const listeners: (() => void)[] = [];
  const changed = () => {
    for (const listener of listeners) listener();
  };
  const fromReal = (real: Date) => new Date(courseToLab(course, real.getTime()) + skewMs);
  const toReal = (shown: Date) => new Date(Math.round(courseToReal(course, shown.getTime() - skewMs)));
  return {
    now: () => fromReal(new Date(realNow())),
    toReal,
    fromReal,
    advance: (ms) => {
      course = advanced(course, realNow(), ms);
      changed();
    },
    rate: (factor) => {
      course = paced(course, realNow(), factor);
      changed();
    },
    skew: (ms) => {
      skewMs = Math.round(ms);
      changed();
    },
    facts: () => {
      const real = realNow();
      const lab = courseToLab(course, real);
      return { now: new Date(lab + skewMs), rate: course.at(-1)?.rate ?? 1, skewMs, aheadMs: lab - real };
    },
    until: async (shown, signal) => {
      while (!signal.aborted) {
        const left = toReal(shown).getTime() - realNow();
        if (left <= 0) return;
        const woken = new AbortController();
        const wake = () => woken.abort();
        listeners.push(wake);
        const either = AbortSignal.any([signal, woken.signal]);
        await pause(Math.min(left, LONGEST_PAUSE), undefined, { signal: either, ref: false }).catch(
          () => undefined,
        );
        listeners.splice(listeners.indexOf(wake), 1);
      }
    },
    onChange: (listener) => void listeners.push(listener),
  };
}

/** Later dates have more digits; no service returns them. */
const LATEST = Date.UTC(9999, 0, 1);

export function advanced(course: Course, real: number, ms: number): Course {
  if (!(ms >= 0 && Number.isFinite(ms)))
    throw new RangeError('a clock jumps ahead, by 0 or more milliseconds');
  const lab = courseToLab(course, real) + Math.round(ms);
  if (lab > LATEST) throw new RangeError('a clock does not jump beyond the year 9998');
  return [...course, { real, lab, rate: course.at(-1)?.rate ?? 1 }];
}

export function paced(course: Course, real: number, factor: number): Course {
  // A slower pace would give several real milliseconds one time: a point in time would be ambiguous.
  if (!(factor >= 1 && Number.isFinite(factor))) throw new RangeError('the pace of a clock is 1 or more');
  return [...course, { real, lab: courseToLab(course, real), rate: factor }];
}

/** In whole milliseconds. */
export function courseToLab(course: Course, real: number): number {
  const stretch = course.findLast((candidate) => candidate.real <= real);
  if (stretch === undefined) return real;
  return Math.min(LATEST, Math.round(stretch.lab + (real - stretch.real) * stretch.rate));
}

/** The earliest real moment with this service time, or the moment of the jump that skipped it. */
export function courseToReal(course: Course, lab: number): number {
  const at = course.findLastIndex((candidate) => candidate.lab <= lab);
  const stretch = course[at];
  const next = course[at + 1]?.real ?? Number.POSITIVE_INFINITY;
  const real = stretch === undefined ? lab : stretch.real + (lab - stretch.lab) / stretch.rate;
  return Math.min(real, next);
}

/** `setTimeout` takes 31 bits. */
const LONGEST_PAUSE = 2 ** 31 - 1;
