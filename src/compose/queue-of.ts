import { LifeboatError } from '../base/errors.ts';
import type { Queue, QueueOptions, QueueReader } from '../queue/queue.ts';
import type { Journal } from '../store/journal.ts';
import type { StoreContext } from './store-of.ts';

/**
 * The queue of the context's store: pg-boss in the team's PostgreSQL, otherwise timers in this process, which
 * hear of the wake-ups of `journal`. Nothing is asked of a database before the first call. Closed by `stop`.
 */
export async function openQueue(
  _context: StoreContext,
  _journal: Pick<Journal, 'onWake'>,
  _options: QueueOptions,
): Promise<Queue> {
  throw new LifeboatError('queue.none', 'there is no queue yet');
}

/** For the board: undefined where the queue is inside the process that works. */
export async function openQueueReader(
  _context: StoreContext,
  _options: QueueOptions,
): Promise<QueueReader | undefined> {
  return undefined;
}
