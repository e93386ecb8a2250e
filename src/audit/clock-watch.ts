import { formatSeconds } from '../base/format.ts';
import type { LoggedEntry } from '../store/journal.ts';
import { clockMoved } from '../store/log/clock-note.ts';
import type { Findings } from './verdict.ts';

/**
 * Milliseconds. Clocks of several machines, and one that is set right, differ by less without anybody's ill
 * will.
 */
const TOLERANCE = 5 * 60_000;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/u;

/**
 * Finds back-dated entries: one that is older than an entry before it in the log by more than five minutes,
 * where no entry says that a clock was set back by as much.
 */
export function clockWatch(findings: Findings): { take(entry: LoggedEntry): void; finish(): void } {
  let latest = '';
  // A process that notes it may be a moment behind another one of the same machine.
  let suspects: { readonly entry: LoggedEntry; readonly behind: number }[] = [];
  return {
    take(entry) {
      const { at, stream, seq } = entry;
      if (!TIME.test(at)) {
        findings.problem('entry.time', `entry ${seq} has no time that can be read`, { stream, seq });
        return;
      }
      const before = latest;
      latest = at;
      const noted = clockMoved(entry);
      if (noted < 0) suspects = suspects.filter(({ behind }) => behind > -noted * 1000 + TOLERANCE);
      if (at >= before) return;
      const behind = Date.parse(before) - Date.parse(at);
      if (behind <= TOLERANCE) latest = before;
      else if (!(behind <= -noted * 1000 + TOLERANCE)) suspects.push({ entry, behind });
    },
    finish() {
      for (const {
        entry: { stream, seq },
        behind,
      } of suspects) {
        const dated = `entry ${seq} is dated ${formatSeconds(Math.floor(behind / 1000))} before an earlier entry`;
        const message = `${dated}, and no entry says that a clock was set back`;
        findings.problem('entry.backdated', message, { stream, seq });
      }
    },
  };
}
