import { isoOf } from '../base/date.ts';
import { msOf } from '../base/instant.ts';
import type { Gap } from './evidence-schema.ts';
import type { Span } from './period.ts';

/** A recurring task, and when it was done. */
export interface Duty extends Pick<Gap, 'what' | 'subject' | 'asked'> {
  readonly check?: string | undefined;
  readonly who?: string | undefined;
  /** How long it counts that it was done, in milliseconds. */
  readonly limitMs: number;
  /** When it was done, by each of those who can do it. Milliseconds since 1970, in any order. */
  readonly done: readonly (readonly number[])[];
  /** How many of them must have done it; default: one. */
  readonly atLeast?: number | undefined;
  /** It mostly leaves no entry if it finds nothing new, so a gap is not certain. */
  readonly isQuiet?: boolean | undefined;
}

export interface Waived {
  readonly instance: string;
  readonly check: string;
  readonly reason: string;
  /** RFC 3339. */
  readonly until: string;
  readonly owner?: string | undefined;
}

/**
 * The parts of a span in which a duty was not done, oldest first: what was done counts from then on for its
 * limit. A waiver has an end and no beginning, so it covers all that lies before its end. Pure.
 */
export function gapsOf(duty: Duty, span: Span, waivers: readonly Waived[]): readonly Gap[] {
  const { what, subject, asked, check, who, done, limitMs, atLeast = 1, isQuiet = false } = duty;
  const first = done.flat().reduce((one, other) => Math.min(one, other), Number.POSITIVE_INFINITY);
  return uncovered(
    span,
    done.map((times) => covered(times, limitMs)),
    atLeast,
  ).map(({ from, until }) => {
    const waiver = waivers
      .filter((one) => one.instance === subject && one.check === check && msOf(one.until) > from)
      .toSorted((one, other) => msOf(other.until) - msOf(one.until))[0];
    const owner = waiver?.owner ?? who;
    return {
      ...{ what, subject, asked, from: isoOf(from), to: isoOf(until), isOpen: until === span.until },
      // Nothing before the first entry of its kind would have left none.
      isCertain: !isQuiet || until <= first,
      ...(owner === undefined ? {} : { who: owner }),
      ...(waiver && {
        waiver: {
          reason: waiver.reason,
          until: waiver.until,
          covers: msOf(waiver.until) >= until ? ('all' as const) : ('part' as const),
        },
      }),
    };
  });
}

/** The parts of a span that are within the limit after one of these times, merged, oldest first. */
function covered(times: readonly number[], limitMs: number): readonly Span[] {
  const merged: { from: number; until: number }[] = [];
  for (const from of times.toSorted((one, other) => one - other)) {
    const last = merged.at(-1);
    if (last !== undefined && from <= last.until) last.until = Math.max(last.until, from + limitMs);
    else merged.push({ from, until: from + limitMs });
  }
  return merged;
}

/** The parts of a span in which fewer than `atLeast` of these cover it, oldest first. */
function uncovered(span: Span, by: readonly (readonly Span[])[], atLeast: number): readonly Span[] {
  const steps = by
    .flat()
    .flatMap(({ from, until }) => [
      { at: from, step: 1 },
      { at: until, step: -1 },
    ])
    .toSorted((one, other) => one.at - other.at || other.step - one.step);
  const gaps: Span[] = [];
  let count = 0;
  let since = atLeast > 0 ? span.from : undefined;
  const close = (at: number) => {
    if (since !== undefined && at > since) gaps.push({ from: since, until: Math.min(at, span.until) });
    since = undefined;
  };
  for (const { at, step } of steps) {
    if (at >= span.until) break;
    count += step;
    if (count >= atLeast) close(at);
    else since ??= Math.max(at, span.from);
  }
  close(span.until);
  return gaps;
}
