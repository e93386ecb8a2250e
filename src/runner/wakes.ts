import { type Entry, fieldsOf, type Wake } from '../store/journal.ts';
import type { Awaits, ForWorkers } from '../store/run-entries.ts';

/** How a process is done with a run: it is over, it waits, or any other process may go on with it. */
type Left = 'over' | Awaits | 'free';

/**
 * Wakes the workers for a run that is left to them and may go on, and the run of the plan whose step it was
 * when that may have something to decide. Pure.
 */
export function wakesOf([started]: readonly Entry[], left: Left): readonly Wake[] {
  const { workers, plan } = fieldsOf(started?.body);
  if (workers === undefined) return [];
  const { run: planRun } = fieldsOf(plan);
  const run = started?.stream.slice('run/'.length) ?? '';
  return [
    ...(left === 'free' ? [{ run }] : []),
    ...(left !== 'free' && typeof planRun === 'string' ? [{ run: planRun }] : []),
  ];
}

/** The answers given in advance for a run that is left to the workers; undefined for any other. Pure. */
export function workersOf([started]: readonly Entry[]): ForWorkers | undefined {
  return fieldsOf(started?.body)['workers'] as ForWorkers | undefined;
}
