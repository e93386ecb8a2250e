import { counted } from '../../base/format.ts';
import type { CommandContext } from '../../cli/context.ts';
import { seeLeftRuns, seeQueue, unheld } from '../worker/workers-seen.ts';
import { type Check, good } from './check.ts';

/**
 * Whether somebody takes the runs that are left to the workers; empty if none is left. Only reads. What keeps
 * the record from being read is said by other checks.
 */
export async function workerChecks(context: CommandContext): Promise<Check[]> {
  const left = await seeLeftRuns(context);
  if (!('value' in left) || left.value.count === 0) return [];
  const what = 'workers';
  const runs = `${counted(left.value.count, 'open run')} left to the workers`;
  const queue = await seeQueue(context);
  const bad = (found: string, ...hints: readonly string[]): Check[] => [
    { what, state: 'warn', found: `${runs}, ${found}`, hints: [...hints] },
  ];
  const start = 'start one: `lifeboat worker`';
  if (queue === undefined) {
    // Only a worker at this home could have them, and it holds what it does.
    const free = unheld(left.value).length;
    if (free === 0) return [good(what, runs)];
    return bad(`and nobody holds ${free} that may go on`, start);
  }
  if (!('value' in queue))
    return queue.code === 'queue.none'
      ? bad('and the store has no queue', 'make it: `lifeboat store init`', `then ${start}`)
      : bad(`and the queue cannot be asked: ${queue.why}`);
  const live = queue.value.workers.filter(({ state }) => state === 'live').length;
  if (live === 0) return bad('and no worker is live', start);
  return [good(what, `${runs}, ${live} live`)];
}
