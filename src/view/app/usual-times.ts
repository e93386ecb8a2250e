import { stepOf } from '../../../machines/parts/states.ts';
import { isoOf } from '../../base/date.ts';
import { formatSeconds, formatSpan, formatTime } from '../../base/format.ts';
import { timelineOf } from '../../report/measure/timeline.ts';
import type { Entry } from '../../store/journal.ts';

/** Seconds of earlier runs, without the time in which they waited for answers. */
export interface UsualTimes {
  /** The median, by step of the rail. */
  readonly steps: ReadonlyMap<string, number>;
  /** By step of the rail. */
  readonly longest: ReadonlyMap<string, number>;
  /** The whole run: median and longest. */
  readonly wholeSeconds?: number | undefined;
  readonly longestWhole?: number | undefined;
  readonly runs: number;
}

/** Undefined if no run has ended yet. */
export function usualWords(seconds: number | undefined, runs: number): string | undefined {
  if (seconds === undefined) return undefined;
  const source = runs === 1 ? 'the last run' : `the median of the last ${runs} runs`;
  return `${formatSeconds(seconds)} without the time for your answers, as ${source}`;
}

/** `asks`: states that wait for a person. Pure. */
export function usualTimes(
  earlier: readonly (readonly Entry[])[],
  asks: (state: string) => boolean,
): UsualTimes {
  const taken = earlier.map((entries) => timesOf(entries, asks));
  const ids = new Set(taken.flatMap((times) => [...times.keys()]));
  const wholes = taken.map((times) => [...times.values()].reduce((sum, one) => sum + one, 0));
  const timesIn = (id: string) => taken.flatMap((times) => times.get(id) ?? []);
  return {
    steps: new Map([...ids].map((id) => [id, middle(timesIn(id)) ?? 0])),
    longest: new Map([...ids].map((id) => [id, Math.max(0, ...timesIn(id))])),
    wholeSeconds: middle(wholes),
    longestWhole: wholes.length === 0 ? undefined : Math.max(...wholes),
    runs: earlier.length,
  };
}

function timesOf(entries: readonly Entry[], asks: (state: string) => boolean): ReadonlyMap<string, number> {
  const { stays = [], lastMs = 0, endedMs = lastMs } = timelineOf(entries) ?? {};
  const times = new Map<string, number>();
  for (const [at, { state, atMs }] of stays.entries()) {
    if (asks(state)) continue;
    const untilMs = stays[at + 1]?.atMs ?? endedMs;
    const step = stepOf(state);
    times.set(step, (times.get(step) ?? 0) + Math.max(0, untilMs - atMs) / 1000);
  }
  return times;
}

function middle(values: readonly number[]): number | undefined {
  return values.toSorted((one, other) => one - other)[Math.floor((values.length - 1) / 2)];
}

/** A shorter step is over before it is read. Seconds. */
const MIN = 5;

/** A step is late when it takes longer than every earlier run by this share and these seconds. */
const SLACK = { share: 1.5, seconds: 5 };

/** Undefined if the step is too short to matter. Seconds. */
export function usualSeconds(usual: UsualTimes | undefined, step: string): number | undefined {
  const seconds = usual?.steps.get(step);
  return seconds === undefined || seconds < MIN ? undefined : seconds;
}

/**
 * `usually 4 min; expected 14:36 UTC`; undefined without a history. Half of all runs take longer than usual,
 * so only a step that takes clearly longer than each of them is called late.
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
 * For the whole run: `usually 12 min; expected to end 14:44 UTC, without the waits for you`. All runs are
 * measured without the time in which they asked.
 */
export function expectedRunEnd(
  usual: UsualTimes | undefined,
  workedSeconds: number,
  now: Date,
): string | undefined {
  const { wholeSeconds: seconds = 0, longestWhole: longest = seconds } = usual ?? {};
  if (seconds < MIN) return undefined;
  return `${endWords({ seconds, longest, workedSeconds }, 'expected to end', now)}, without the waits for you`;
}

/** All in seconds. */
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

/** No more precise than known. */
function roughly(seconds: number): string {
  return formatSpan(seconds < 120 ? seconds : Math.round(seconds / 60) * 60);
}

/** To the second below two minutes; else to the minute, rounded up. */
function clockAt(ms: number, seconds: number): string {
  const step = seconds < 120 ? 1_000 : 60_000;
  const time = formatTime(isoOf(Math.ceil(ms / step) * step)).slice(11);
  return seconds < 120 ? time : time.slice(0, 5);
}
