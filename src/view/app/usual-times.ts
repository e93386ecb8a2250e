import { stepOf } from '../../../machines/parts/phases.ts';
import { formatSeconds } from '../../base/format.ts';
import { timelineOf } from '../../report/measure/timeline.ts';
import type { Entry } from '../../store/journal.ts';

/** How long earlier runs took, without the time in which they waited for answers. Seconds. */
export interface UsualTimes {
  /** By the id of a step of the rail; the middle one of the earlier runs that passed it. */
  readonly steps: ReadonlyMap<string, number>;
  /** The longest of them. */
  readonly longest: ReadonlyMap<string, number>;
  /** The whole run: the middle one, and the longest. */
  readonly wholeSeconds?: number | undefined;
  readonly longestWhole?: number | undefined;
  readonly runs: number;
}

/**
 * How long a whole run usually takes, and from how many that is known; undefined where none has ended yet.
 */
export function usualWords(seconds: number | undefined, runs: number): string | undefined {
  if (seconds === undefined) return undefined;
  const source = runs === 1 ? 'the last run' : `the median of the last ${runs} runs`;
  return `${formatSeconds(seconds)} without the time for your answers, as ${source}`;
}

/** What runs took by their entries; `asks` says which states wait for a person. Pure. */
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
