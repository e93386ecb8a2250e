/** The message is the end of a sentence. */
export class TooSlow extends Error {}

/**
 * The result of `act`, or rejects with `TooSlow` after `ms`. A system operation cannot be cancelled: on a
 * dead network mount it blocks its thread as long as the mount is dead. Nothing waits for it, not even
 * `leave`.
 */
export async function within<T>(ms: number, act: () => Promise<T>): Promise<T> {
  const doing = act();
  const { promise: late, reject } = Promise.withResolvers<never>();
  const over = performance.now() + ms;
  let timer: NodeJS.Timeout | undefined;
  let isBack = false;
  const giveUp = () => {
    if (isBack) return;
    // By the steady clock: a timer may fire early.
    if (performance.now() < over) wait();
    else reject(new TooSlow(`no answer within ${ms / 1000} s`));
  };
  const wait = () => {
    // If this process was stopped, answers that have arrived count before the limit does.
    timer = setTimeout(() => setImmediate(giveUp), over - performance.now());
  };
  wait();
  try {
    return await Promise.race([doing, late]);
  } finally {
    isBack = true;
    clearTimeout(timer);
  }
}

/**
 * `within` for the operations of one place: while one is overdue, each further one is not started and rejects
 * with `TooSlow` and `silent`, so that no more threads get stuck.
 */
export function withinOrSilent(ms: number, silent: string): <T>(act: () => Promise<T>) => Promise<T> {
  let isStuck = false;
  return async (act) => {
    if (isStuck) throw new TooSlow(silent);
    const doing = act();
    try {
      return await within(ms, () => doing);
    } catch (thrown) {
      if (thrown instanceof TooSlow) {
        isStuck = true;
        const heard = () => {
          isStuck = false;
        };
        doing.then(heard, heard);
      }
      throw thrown;
    }
  };
}
