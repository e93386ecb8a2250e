import { formatSpan, formatTime } from '../base/format.ts';
import type { UsualTimes } from './app/usual-times.ts';

/** What is shorter is over before it is read. Seconds. */
const LEAST = 5;

/** How much longer than every earlier run a step may take before that is said: as a share, and in seconds. */
const SLACK = { share: 1.5, seconds: 5 };

/** What earlier runs took for a step, where that says something. Seconds. */
export function usualSeconds(usual: UsualTimes | undefined, step: string): number | undefined {
  const seconds = usual?.steps.get(step);
  return seconds === undefined || seconds < LEAST ? undefined : seconds;
}

/**
 * What earlier runs took for a step that this one has worked at for so many seconds, and when it should end:
 * `usually 4 min; expected 14:36 UTC`. Undefined without a history. Half of all runs take longer than usual,
 * so that is said only of one that takes clearly longer than each of them.
 */
export function expectedEnd(
  usual: UsualTimes | undefined,
  step: string,
  workedSeconds: number,
  now: Date,
): string | undefined {
  const seconds = usualSeconds(usual, step);
  if (seconds === undefined) return undefined;
  const longest = usual?.longest.get(step) ?? seconds;
  return endWords({ seconds, longest, workedSeconds }, 'expected', now);
}

/**
 * The same for the whole run: `usually 12 min; expected to end 14:44 UTC, without the waits for you`. Both the
 * earlier runs and this one are measured without the time in which they asked.
 */
export function expectedRunEnd(
  usual: UsualTimes | undefined,
  workedSeconds: number,
  now: Date,
): string | undefined {
  const { wholeSeconds: seconds = 0, longestWhole: longest = seconds } = usual ?? {};
  if (seconds < LEAST) return undefined;
  return `${endWords({ seconds, longest, workedSeconds }, 'expected to end', now)}, without the waits for you`;
}

/** Half of all take longer than the middle one: what is over its time is not late by that. Seconds. */
function endWords(
  { seconds, longest, workedSeconds }: Record<'seconds' | 'longest' | 'workedSeconds', number>,
  expected: string,
  now: Date,
): string {
  if (workedSeconds > Math.max(longest, seconds * SLACK.share) + SLACK.seconds)
    return `longer than usual (${roughly(seconds)})`;
  const left = seconds - workedSeconds;
  if (left < 0) return `usually ${roughly(seconds)}`;
  return `usually ${roughly(seconds)}; ${expected} ${clockAt(now.getTime() + left * 1000, seconds)} UTC`;
}

/** Minutes are as exact as it is known. */
function roughly(seconds: number): string {
  return formatSpan(seconds < 120 ? seconds : Math.round(seconds / 60) * 60);
}

/** To the second where it takes less than two minutes; else to the minute, rounded up. */
function clockAt(ms: number, seconds: number): string {
  const step = seconds < 120 ? 1_000 : 60_000;
  const time = formatTime(new Date(Math.ceil(ms / step) * step).toISOString()).slice(11);
  return seconds < 120 ? time : time.slice(0, 5);
}
