import { isPostgres } from '../config/store-address.ts';
import { storeNamed } from '../config/store-named.ts';
import type { Queue, QueueOptions, QueueReader } from '../queue/queue.ts';
import type { Journal } from '../store/journal.ts';
import type { StoreContext } from './store-of.ts';

/**
 * The queue of the context's store: pg-boss in the team's PostgreSQL, otherwise timers in this process, which
 * hear of the wake-ups of `journal`. Nothing is asked of a database before the first call. Closed by `stop`.
 */
export async function openQueue(
  context: StoreContext,
  journal: Pick<Journal, 'onWake'>,
  options: QueueOptions,
): Promise<Queue> {
  const address = await storeNamed(context.env, context.configPath);
  if (isPostgres(address)) {
    const { createBossQueue } = await import('../queue/boss.ts');
    return createBossQueue({ address, env: context.env, ...options });
  }
  const { createTimers } = await import('../queue/timers.ts');
  return createTimers({ journal, ...options });
}

/** For the board: undefined where the queue is inside the process that works. */
export async function openQueueReader(
  context: StoreContext,
  options: QueueOptions,
): Promise<QueueReader | undefined> {
  const address = await storeNamed(context.env, context.configPath);
  if (!isPostgres(address)) return undefined;
  const { createBossReader } = await import('../queue/boss-board.ts');
  return createBossReader({ address, env: context.env, ...options });
}
