import type { Check } from '../../../machines/parts/plan.ts';
import { Duration } from '../../base/duration.ts';
import { formatSeconds } from '../../base/format.ts';
import { msOf } from '../../base/instant.ts';
import type { Measure } from '../reconcile.ts';

const COMPARISON = /^(?<sign>>=|<=|=|>|<)\s*(?<value>.+)$/u;

/** Whether a number fits a comparison such as `>= 1000`. */
function holds(found: number, sign: string, wanted: number): boolean {
  switch (sign) {
    case '>=':
      return found >= wanted;
    case '<=':
      return found <= wanted;
    case '>':
      return found > wanted;
    case '<':
      return found < wanted;
    default:
      return found === wanted;
  }
}

/**
 * What does not fit the expectations of a check, in words; undefined if everything does. What was not found
 * never fits: an answer without a number shows nothing. Pure.
 */
export function misfitOf(
  { rows, age }: NonNullable<Check['expect']>,
  { count, newest }: Measure,
  nowMs: number,
): string | undefined {
  if (rows !== undefined) {
    const { sign = '=', value = '' } = COMPARISON.exec(rows)?.groups ?? {};
    const wanted = Number(value.trim());
    if (!Number.isFinite(wanted)) return `${rows} is no comparison with a number`;
    if (count === undefined) return `it gave no number, and ${rows} are wanted`;
    if (!holds(count, sign, wanted)) return `there are ${count}, and ${rows} are wanted`;
  }
  if (age === undefined) return undefined;
  const { sign = '=', value = '' } = COMPARISON.exec(age)?.groups ?? {};
  const wanted = Duration.safeParse(value.trim());
  if (!wanted.success) return `${age} is no comparison with a duration`;
  if (newest === undefined) return `it gave no time, and an age of ${age} is wanted`;
  const found = nowMs - msOf(newest);
  if (holds(found, sign, wanted.data)) return undefined;
  return `the newest is ${formatSeconds(Math.round(found / 1000))} old, and ${age} is wanted`;
}
