import { formatTime } from '../base/format.ts';
import { show } from '../base/text.ts';
import type { Entry, Holder } from '../store/journal.ts';
import { readRunEntry } from '../store/run-entries.ts';

/** What stands on a run that is only looked at. Printable. */
export interface WatchedView {
  /** Who drives the run, or that nobody does, in one sentence without a stop. */
  readonly driver: string;
}

/** `ada (process 4711 on box) since 2026-01-02 03:04:05 UTC`. */
export function holderWords({ by, pid, host, since, isHere }: Holder): string {
  const process = isHere ? 'this process' : `process ${pid} on ${show(host, 60)}`;
  const who = by === undefined ? process : `${show(by, 60)} (${process})`;
  return `${who} since ${formatTime(since)} UTC`;
}

/** Who drives a run, by the store and, where it names nobody, by the entries of the run. */
export function driverOf(entries: readonly Entry[], holder: Holder | undefined, runId: string): string {
  if (holder !== undefined) return `driven by ${holderWords(holder)}`;
  const resume = `resume it with: lifeboat resume ${show(runId)}`;
  const left = entries.findLast(({ type }) => type === 'run.detached' || type === 'run.resumed');
  const known = left && readRunEntry(left);
  if (left === undefined || known?.type !== 'run.detached') return `no process drives it now; ${resume}`;
  return `${show(left.by, 60)} left it at ${formatTime(left.at)} UTC (${show(known.body.why, 120)}); ${resume}`;
}
