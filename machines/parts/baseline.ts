import type { TargetIdentity } from './recovery-data.ts';
import type { Baseline } from './task-data.ts';

/** A restore in progress may undo any change made beside it, or be undone by that change. */
export const RESTORES_CALL = {
  method: 'GET',
  path: '/restores',
  what: 'whether a restore is under way',
} as const;

/** Reads that a confirmation rests on. V0 has only the lists. */
export const BASELINE_CALLS = [
  { method: 'GET', path: '', what: 'the instance and its state, again', optional: true },
  { method: 'GET', path: '/backups-config', what: 'its settings, again', optional: true },
  { method: 'GET', path: '/backups', what: 'the newest backup, tasks under way, again' },
  RESTORES_CALL,
] as const;

/**
 * The differences since the confirmation, as sentences for the operator. `updatedAt` is left out: a service
 * may change it by itself, and a real change shows in another field as well.
 */
export function baselineDifferences(before: Baseline, now: Baseline): string[] {
  const found: string[] = [];
  if (before.serviceId !== now.serviceId) found.push('it is a different service instance');
  if (before.minKeyLength !== now.minKeyLength)
    found.push(
      `the minimum key length is ${now.minKeyLength ?? 'not reported'}, it was ${before.minKeyLength ?? 'not reported'}`,
    );
  if (before.newestBackup !== now.newestBackup)
    found.push(`the newest backup is ${now.newestBackup ?? 'gone'}, it was ${before.newestBackup ?? 'none'}`);
  if (before.state !== now.state)
    found.push(`its state is ${now.state ?? 'not reported'}, it was ${before.state ?? 'not reported'}`);
  const started = now.runningTasks.filter((id) => !before.runningTasks.includes(id));
  if (started.length > 0) found.push(`backup ${started.join(', ')} has started`);
  return [...found, ...restoreDifferences(before, now), ...updateDifferences(before, now)];
}

export function newRestores(before: Baseline | undefined, now: Baseline): readonly number[] {
  const known = before?.runningRestores ?? [];
  return (now.runningRestores ?? []).filter((id) => !known.includes(id));
}

/** A restore that began and ended between two looks shows only as the newest one. */
function restoreDifferences(before: Baseline, now: Baseline): string[] {
  const wasRead = before.runningRestores !== undefined && now.runningRestores !== undefined;
  const started = newRestores(before, now);
  if (started.length > 0)
    return [`restore ${started.join(', ')} ${wasRead ? 'has started' : 'is under way'}`];
  const { newestRestore } = now;
  const isOther = newestRestore !== undefined && newestRestore !== before.newestRestore;
  return wasRead && isOther ? [`restore ${newestRestore} was made meanwhile`] : [];
}

/** A confirmed update is of these components; a service that does not report them never differs. */
function updateDifferences(before: Baseline, now: Baseline): string[] {
  const [was, on] = [before.updates, now.updates];
  if (was === undefined || on === undefined) return [];
  return [
    ...on.filter((one) => !was.includes(one)).map((one) => `update ${updateWords(one)} is offered now`),
    ...was.filter((one) => !on.includes(one)).map((one) => `update ${updateWords(one)} is no longer offered`),
  ];
}

function updateWords(line: string): string {
  const parts = JSON.parse(line) as unknown[];
  return parts.filter((part) => typeof part === 'string').join(' ');
}

/** Like `baselineDifferences`, for a target: its identity without `updatedAt`. */
export function targetDifferences(before: TargetIdentity, now: TargetIdentity): string[] {
  const fields = Object.keys({ ...before, ...now }) as (keyof TargetIdentity)[];
  return fields
    .filter((field) => field !== 'updatedAt' && shown(before[field]) !== shown(now[field]))
    .map((field) => `${WORDS[field] ?? field}: ${shown(now[field])}, was ${shown(before[field])}`);
}

const WORDS: Partial<Record<keyof TargetIdentity, string>> = {
  instanceId: 'instance',
  serviceId: 'service',
  planId: 'plan',
  createdAt: 'created at',
  newestBackup: 'newest backup',
  newestRestore: 'newest restore',
  runningTasks: 'tasks under way',
  boundApps: 'bound applications',
};

function shown(value: TargetIdentity[keyof TargetIdentity]): string {
  if (value === undefined) return 'not reported';
  if (!Array.isArray(value)) return String(value);
  return value.length === 0 ? 'none' : value.toSorted().join(', ');
}
