import { isoOf } from '../base/date.ts';
import { instantOf, msOf } from '../base/instant.ts';
import { DRILL_SHARE, MISSED_EVALUATIONS } from './periods.ts';

/** Of a home. */
interface Drills {
  readonly lastProven?: { readonly at: string } | undefined;
  readonly everySeconds?: number | undefined;
}

/** No drill was proven for 1.25 of its period. Pure. */
export function isDrillMissed(drills: Drills, now: Date): boolean {
  const since = drillMissedSince(drills);
  return since !== undefined && msOf(since) <= now.getTime();
}

/** RFC 3339; undefined without a period, or if no drill was ever proven. Pure. */
export function drillMissedSince({ lastProven, everySeconds }: Drills): string | undefined {
  const at = instantOf(lastProven?.at);
  if (at === undefined || everySeconds === undefined) return undefined;
  return isoOf(at + everySeconds * 1000 * DRILL_SHARE);
}

/**
 * The instance that is missed for longest; `since` is undefined if it was never evaluated. `everyMs` is the
 * period of evaluations. Undefined if none is missed. Pure.
 */
export function evaluationMissed(
  names: readonly string[],
  last: Readonly<Record<string, string>>,
  everyMs: number,
  now: Date,
): { readonly instance: string; readonly since: string | undefined } | undefined {
  const missed = names
    .map((instance) => ({ instance, sinceMs: msOf(last[instance]) + everyMs * MISSED_EVALUATIONS }))
    .filter(({ sinceMs }) => !(now.getTime() <= sinceMs))
    .toSorted((one, other) => (one.sinceMs || 0) - (other.sinceMs || 0));
  const [first] = missed;
  if (first === undefined) return undefined;
  const { instance, sinceMs } = first;
  return { instance, since: Number.isNaN(sinceMs) ? undefined : isoOf(sinceMs) };
}
