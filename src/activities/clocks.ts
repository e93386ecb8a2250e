import * as z from 'zod';
import { formatSeconds } from '../base/format.ts';

/** How far the service's clock is ahead of this machine's, and the possible error. Milliseconds. */
export const Skew = z.object({ skewMs: z.number(), uncertaintyMs: z.number() });
export type Skew = z.infer<typeof Skew>;

/** Of a request. Milliseconds since 1970, by this machine's clock. */
export interface Times {
  readonly armedAtMs: number;
  /** If a refusal came in between: a task of the first send is no older. */
  readonly firstArmedAtMs?: number | undefined;
  /** A request may still arrive after this. `armedAtMs` if unknown. */
  readonly lostAtMs?: number | undefined;
  readonly nowMs: number;
  /** A lost request may arrive for this time after its loss. */
  readonly inFlightMs: number;
}

/** The two clocks around a request whose answer was lost. */
export interface Clocks extends Times {
  /** From the answer before the request; null if it had no `Date`. */
  readonly skewBefore: Skew | null;
  /** From the answer that is being judged. */
  readonly skewNow: Skew | undefined;
}

/** Tasks may be stamped by another clock than answers, and in whole seconds. */
const CLOCK_MARGIN_MS = 5_000;
const FIRST_LOOK_MS = 500;
const LATER_LOOK_MS = 5_000;
const EAGER_MS = 10_000;

/** Two times of the service may be the same, with and without fractions of a second. */
export function isSameInstant(oneMs: number, otherMs: number): boolean {
  return Math.abs(oneMs - otherMs) <= 1_000;
}

/**
 * Compares with the arming. If a clock was set in between, the two measured skews differ; then only a time
 * before it by both counts as before. `unknown` if neither could be measured.
 */
export function side(instantMs: number, clocks: Clocks): 'before' | 'after' | 'unknown' {
  const skews = [clocks.skewBefore, clocks.skewNow ?? null].filter((skew) => skew !== null);
  if (skews.length === 0) return 'unknown';
  const least = Math.min(...skews.map(({ skewMs, uncertaintyMs }) => skewMs - uncertaintyMs));
  const fromMs = clocks.firstArmedAtMs ?? clocks.armedAtMs;
  return instantMs < fromMs + least - CLOCK_MARGIN_MS ? 'before' : 'after';
}

/** From the arming to a time of the service (negative: before it); undefined if its clock is unknown. */
export function sinceArming(
  instantMs: number,
  { armedAtMs, firstArmedAtMs = armedAtMs, skewBefore, skewNow }: Clocks,
): number | undefined {
  const skew = skewBefore ?? skewNow;
  return skew === undefined ? undefined : instantMs - firstArmedAtMs - skew.skewMs;
}

/** Undefined once a request can no longer be under way. */
export function nextLook(clocks: Clocks): { readonly ms: number; readonly untilMs: number } | undefined {
  const elapsed = elapsedMs(clocks);
  const left = clocks.inFlightMs - elapsed;
  if (left <= 0) return undefined;
  const pace = elapsed < EAGER_MS ? FIRST_LOOK_MS : LATER_LOOK_MS;
  return { ms: Math.min(pace, left + 1), untilMs: clocks.nowMs + left };
}

/** A minute more than the router waits (service-api.md section 8), plus a margin. */
const LONGEST_SEND_MS = 17 * 60_000;

/**
 * Since the loss, by the clock that shows less: a clock that was set forward must not end the waiting. If a
 * process died in its send, only the moment when that was noticed is known, but the send had ended by its
 * deadline.
 */
export function elapsedMs(clocks: Clocks): number {
  const { armedAtMs, lostAtMs, skewBefore, skewNow } = clocks;
  const sinceArmed = sinceMs(armedAtMs, clocks);
  if (lostAtMs === undefined) return sinceArmed;
  const sinceLost = sinceMs(lostAtMs, clocks, true);
  const isComparable = skewBefore !== null && skewNow !== undefined;
  return isComparable ? Math.max(sinceLost, sinceArmed - LONGEST_SEND_MS) : sinceLost;
}

/**
 * If time ran backwards, this machine's clock was set back, and the service's clock counts. With `isLater`,
 * for a moment after the arming, the clock may also have been set forward before that moment, which then
 * already is in the new time.
 */
function sinceMs(fromMs: number, { nowMs, skewBefore, skewNow }: Clocks, isLater = false): number {
  const byOurs = nowMs - fromMs;
  if (skewBefore === null || skewNow === undefined) return byOurs;
  const drift = skewNow.skewMs - skewBefore.skewMs;
  const noise = skewNow.uncertaintyMs + skewBefore.uncertaintyMs;
  const byTheirs = byOurs + drift - noise;
  if (byOurs < 0) return Math.max(byOurs, byTheirs);
  if (drift >= -noise - CLOCK_MARGIN_MS) return byOurs;
  return isLater && byTheirs < -noise - CLOCK_MARGIN_MS ? byOurs : byTheirs;
}

/** By the service's answer, if it says. Milliseconds since 1970. */
export function clockOf(now: Date, skew: Skew | undefined): number {
  return now.getTime() + (skew?.skewMs ?? 0);
}

/** Whole seconds; 0 if the skew is within its error, undefined if unknown. */
export function secondsAhead(skew: Skew | undefined): number | undefined {
  if (skew === undefined) return undefined;
  return Math.abs(skew.skewMs) <= skew.uncertaintyMs ? 0 : Math.round(skew.skewMs / 1000);
}

/** For a person who judges the service's times. */
export function clockSentence({ skewBefore, skewNow }: Pick<Clocks, 'skewBefore' | 'skewNow'>): string {
  const skew = skewNow ?? skewBefore;
  if (skew === null) return 'the service does not report its clock, so its times say little';
  if (skewNow !== undefined && skewBefore !== null) {
    const noise = skewNow.uncertaintyMs + skewBefore.uncertaintyMs + CLOCK_MARGIN_MS;
    if (Math.abs(skewNow.skewMs - skewBefore.skewMs) > noise)
      return `a clock was set in between: the service's ${offsetWords(skewBefore)} before, and ${offsetWords(skewNow)} now`;
  }
  return `the service's clock ${offsetWords(skew)}`;
}

function offsetWords({ skewMs, uncertaintyMs }: Skew): string {
  const within = `± ${formatSeconds(Math.max(0.1, uncertaintyMs / 1_000))}`;
  if (Math.abs(skewMs) <= Math.max(1_000, uncertaintyMs)) return `agrees with this machine's, ${within}`;
  const way = skewMs < 0 ? 'behind' : 'ahead of';
  return `is ${formatSeconds(Math.abs(skewMs) / 1_000)} ${way} this machine's, ${within}`;
}
