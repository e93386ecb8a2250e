import { LifeboatError } from '../base/errors.ts';

const LEFT = 'run.left';

/**
 * A verb that was left behind must not write or send any more: the hold on the run may belong to somebody
 * else by now.
 */
export function mustStay(left: AbortSignal): void {
  if (left.aborted) throw new LifeboatError(LEFT, 'the run was left while this step was under way');
}

/** The end of a verb that was left; anything else is thrown on. */
export function leftOrThrow(thrown: unknown): 'left' {
  if (thrown instanceof LifeboatError && thrown.code === LEFT) return 'left';
  throw thrown;
}

/** Resolves when the signal is aborted, at once when it is already. */
export function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}

/** Rejects when the run is left meanwhile. */
export function sleepUnlessLeft(ms: number, leaving: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    void aborted(leaving).then(() => {
      clearTimeout(timer);
      reject(new LifeboatError(LEFT, 'the run was left while it waited'));
    });
  });
}
