import { hash } from 'node:crypto';
import type { Start } from './schedule.ts';

/** Crockford's base 32, as in a ULID. */
const DIGITS = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
/** A ULID has ten digits of time and sixteen others. */
const TIME_DIGITS = 10;
const OTHER_DIGITS = 16;

/**
 * Follows from the run of the plan, the step, the lane and the attempt, so that starting a step twice is
 * starting it once. It sorts with its plan. Pure.
 */
export function childRunId(planRun: string, { group, step, lane, attempt }: Start): string {
  const digest = hash('sha256', JSON.stringify([planRun, group, step, lane, attempt]), 'buffer');
  const digits = [...digest.subarray(0, OTHER_DIGITS)].map((byte) => DIGITS[byte % DIGITS.length]);
  return `${planRun.slice(0, TIME_DIGITS)}${digits.join('')}`;
}
