import type { Overdue } from '../../activities/activity.ts';
import { formatSeconds } from '../../base/format.ts';
import { durationFrom } from '../../cli/numbers.ts';

/** How far over its limit an unattended wait is left, without `--patience`. Milliseconds. */
export const PATIENCE_MS = 30 * 60_000;
/** Milliseconds for any unattended step, whatever it reports: twice the largest limit of a wait. */
const LONGEST_MS = 48 * 3_600_000;

export interface OverdueWatch {
  /** Called at each report of progress, with its step and whether that is overdue. */
  look(step: unknown, overdue: Overdue | undefined): void;
  stop(): void;
}

/**
 * Calls `leave` once, with the reason, when a step has been over its limit for `patienceMs`, or has lasted
 * two days. Until `stop` a timer keeps the process alive.
 */
export function watchOverdue(patienceMs: number, leave: (why: string) => void): OverdueWatch {
  let current: unknown;
  let late: NodeJS.Timeout | undefined;
  let longest: NodeJS.Timeout | undefined;
  const stop = () => {
    clearTimeout(late);
    clearTimeout(longest);
  };
  const end = (why: string) => {
    stop();
    leave(why);
  };
  return {
    look: (step, overdue) => {
      clearTimeout(late);
      if (step !== current) {
        current = step;
        clearTimeout(longest);
        if (step !== undefined)
          longest = setTimeout(
            () => end(`the step has taken ${formatSeconds(LONGEST_MS / 1_000)}, which is too long`),
            LONGEST_MS,
          );
      }
      if (overdue === undefined) return;
      const leftMs = Math.max(0, patienceMs - overdue.overSeconds * 1_000);
      const took = formatSeconds(overdue.seconds + leftMs / 1_000);
      late = setTimeout(
        () => end(`the step has taken ${took}, which is too long: ${overdue.detail}`),
        leftMs,
      );
    },
    stop,
  };
}

/** `--patience` in milliseconds; throws `usage.patience` unless it is a duration of at most two days. */
export function patienceFrom(text: string | undefined): number | undefined {
  return text === undefined ? undefined : durationFrom(text, 'patience', ['0s', '2d']);
}
