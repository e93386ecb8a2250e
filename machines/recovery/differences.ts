import type { TargetIdentity } from '../parts/recovery-verbs.ts';
import type { Ground } from '../parts/verbs.ts';

/** What differs between the ground that was confirmed and the ground now, as sentences for the operator. */
export function groundDifferences(before: Ground, now: Ground): string[] {
  const found: string[] = [];
  if (before.serviceId !== now.serviceId) found.push('it is another service instance');
  if (before.newestBackup !== now.newestBackup)
    found.push(`the newest backup is ${now.newestBackup ?? 'gone'}, it was ${before.newestBackup ?? 'none'}`);
  if (before.state !== now.state) found.push(`it is ${now.state ?? 'in no state that is told'} now`);
  if (before.updatedAt !== now.updatedAt)
    found.push(`it was changed at ${now.updatedAt ?? 'a time that is not told'}`);
  const started = now.runningTasks.filter((id) => !before.runningTasks.includes(id));
  if (started.length > 0) found.push(`backup ${started.join(', ')} has started`);
  const restores = newRestores(before, now);
  if (restores.length > 0) found.push(`restore ${restores.join(', ')} has started`);
  return found;
}

/** Restores that are under way now and were not before. */
export function newRestores(before: Ground | undefined, now: Ground): readonly number[] {
  const known = before?.runningRestores ?? [];
  return (now.runningRestores ?? []).filter((id) => !known.includes(id));
}

/** The same for a target. Everything by which it is known counts: what was confirmed is that very instance, as it was. */
export function targetDifferences(before: TargetIdentity, now: TargetIdentity): string[] {
  const fields = Object.keys({ ...before, ...now }) as (keyof TargetIdentity)[];
  return fields
    .filter((field) => shown(before[field]) !== shown(now[field]))
    .map((field) => `${WORDS[field] ?? field}: ${shown(now[field])}, was ${shown(before[field])}`);
}

const WORDS: Partial<Record<keyof TargetIdentity, string>> = {
  instanceId: 'instance',
  serviceId: 'service',
  planId: 'plan',
  createdAt: 'created at',
  updatedAt: 'last changed at',
  newestBackup: 'newest backup',
  newestRestore: 'newest restore',
  runningTasks: 'tasks under way',
  boundApps: 'bound applications',
};

function shown(value: TargetIdentity[keyof TargetIdentity]): string {
  if (value === undefined) return 'not told';
  if (!Array.isArray(value)) return String(value);
  return value.length === 0 ? 'none' : value.toSorted().join(', ');
}
