/** An operation did not come back in time. The message is the end of a sentence. */
export class TooSlow extends Error {}

/**
 * What an operation of the system gives, when it comes back within `ms`; rejects with `TooSlow` when it does
 * not. It cannot be called off: a thread stays inside a file on a dead network mount for as long as the mount
 * is dead. Nothing waits for it, not even `leave`.
 */
export async function within<T>(ms: number, act: () => Promise<T>): Promise<T> {
  const doing = act();
  const { promise: late, reject } = Promise.withResolvers<never>();
  const over = performance.now() + ms;
  let timer: NodeJS.Timeout | undefined;
  let isBack = false;
  const giveUp = () => {
    if (isBack) return;
    // By the clock that nobody sets: a timer may come before its time.
    if (performance.now() < over) wait();
    else reject(new TooSlow(`no answer within ${ms / 1000} s`));
  };
  const wait = () => {
    // Where this process itself stood still, answers that have come meanwhile are heard before the limit is.
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
 * `within` for operations of one place, with a memory: while one of them has not come back in its time, no
 * other is begun, so that no more threads get stuck. Until then each rejects with `TooSlow` and `silent`.
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
