import { counted } from '../../base/format.ts';
import type { CommandContext } from '../../cli/context.ts';
import { type LeftRuns, seeLeftRuns, seeQueue, unheld } from '../worker/workers-seen.ts';
import { type Check, good } from './check.ts';

/**
 * Whether a worker takes the runs that are left to the workers; empty if none is left. Only reads. What keeps
 * the record from being read is said by other checks.
 */
export async function workerChecks(context: CommandContext): Promise<Check[]> {
  const left = await seeLeftRuns(context);
  if (!('value' in left) || left.value.count === 0) return [];
  return workersCheck(left.value, await seeQueue(context));
}

/** The check of at least one run that is left; `queue` is undefined at a home of one person. Pure. */
export function workersCheck(left: LeftRuns, queue: Awaited<ReturnType<typeof seeQueue>>): Check[] {
  const what = 'workers';
  const runs = `${counted(left.count, 'open run')} left to the workers`;
  const bad = (found: string, ...hints: readonly string[]): Check[] => [
    { what, state: 'warn', found: `${runs}, ${found}`, hints: [...hints] },
  ];
  const start = 'start one: `lifeboat worker`';
  if (queue === undefined) {
    // Only a worker at this home could have them, and it holds what it does.
    const free = unheld(left).length;
    if (free === 0) return [good(what, runs)];
    return bad(`and no process holds ${free} that may go on`, start);
  }
  if (!('value' in queue))
    return queue.code === 'queue.none'
      ? bad('and the store has no queue', 'make it: `lifeboat store init`', `then ${start}`)
      : bad(`and the queue cannot be asked: ${queue.why}`);
  const live = queue.value.workers.filter(({ state }) => state === 'live').length;
  if (live === 0) return bad('and no worker is live', start);
  return [good(what, `${runs}, ${live} live`)];
}
