import { setTimeout as pause } from 'node:timers/promises';
import type { LabClock } from './clock.ts';
import type { LabInstance } from './instance.ts';

/** What the lab does automatically. Seconds are of the lab's clock; undefined, 0 or less turns it off. */
export interface Schedule {
  /** Backs up each instance that is not excluded from it, at this interval in seconds. */
  backupEvery(seconds: number | undefined): void;
  /** Applies pending updates to each instance that allows it, at this interval in seconds. */
  maintenanceEvery(seconds: number | undefined): void;
}

/** Real time between two samples of the metrics. */
const SAMPLE_MS = 5_000;

/**
 * Starts the lab's automatic work, until the signal: samples metrics, and deletes expired backups when the
 * clock moves. A clock jump over several turns makes only one, as after a computer's sleep.
 */
export function startSchedule(
  instances: readonly LabInstance[],
  clock: LabClock,
  signal: AbortSignal,
): Schedule {
  const present = () => instances.filter(({ gone }) => !gone);
  clock.onChange(() => {
    for (const instance of instances) instance.backups.prune();
  });
  void sampleRegularly(instances, signal);
  return {
    backupEvery: repeated(clock, signal, () => {
      for (const instance of present()) {
        if (!instance.settings.exclude_from_auto_backup) void instance.triggerBackup();
      }
    }),
    maintenanceEvery: repeated(clock, signal, () => {
      for (const instance of present()) {
        const isDue = instance.upkeep.setting.allowed && instance.upkeep.updates.length > 0;
        if (isDue && !instance.upkeep.isDoing('update')) instance.upkeep.begin('update');
      }
    }),
  };
}

/** Returns a function that repeats the work at an interval in seconds, until its next call or the signal. */
function repeated(clock: LabClock, signal: AbortSignal, work: () => void) {
  let current = new AbortController();
  return (seconds: number | undefined) => {
    current.abort();
    current = new AbortController();
    if (seconds !== undefined && seconds > 0)
      void repeat(clock, seconds * 1000, AbortSignal.any([signal, current.signal]), work);
  };
}

async function repeat(clock: LabClock, period: number, signal: AbortSignal, work: () => void): Promise<void> {
  while (!signal.aborted) {
    const due = new Date(clock.now().getTime() + period);
    // With a fast clock this is already due; yield once so that other work runs.
    await pause(1, undefined, { signal, ref: false }).catch(() => undefined);
    await clock.until(due, signal);
    if (!signal.aborted) work();
  }
}

async function sampleRegularly(instances: readonly LabInstance[], signal: AbortSignal): Promise<void> {
  // Simulated instances share a machine.
  const metrics = new Set(instances.map((instance) => instance.metrics));
  while (!signal.aborted) {
    await Promise.all([...metrics].map((one) => one.sample()));
    await pause(SAMPLE_MS, undefined, { signal, ref: false }).catch(() => undefined);
  }
}
