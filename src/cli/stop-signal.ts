/**
 * Resolves at the first SIGINT, SIGTERM or SIGHUP, or when `also` is aborted; later ones do not cut the
 * clean-up short.
 */
export function stopSignal(also?: AbortSignal): {
  readonly signal: AbortSignal;
  readonly stopped: Promise<void>;
  release(): void;
} {
  const controller = new AbortController();
  const stopped = new Promise<void>((resolve) =>
    controller.signal.addEventListener('abort', () => resolve(), { once: true }),
  );
  const stop = () => controller.abort();
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  for (const signal of signals) process.on(signal, stop);
  also?.addEventListener('abort', stop, { once: true });
  if (also?.aborted === true) stop();
  return {
    signal: controller.signal,
    stopped,
    release() {
      also?.removeEventListener('abort', stop);
      for (const signal of signals) process.off(signal, stop);
    },
  };
}

/** Signals received before there was anything to leave. */
export interface EarlySignals {
  /**
   * Gives signals their usual effect again, or that of later listeners; returns the first signal received in
   * between.
   */
  release(): NodeJS.Signals | undefined;
}

/**
 * Keeps SIGINT, SIGTERM and SIGHUP from ending the process while a run is begun and taken up: the record must
 * be left in order, with the exit code of a resumable run.
 */
export function keepSignals(): EarlySignals {
  let came: NodeJS.Signals | undefined;
  const onSignal = (signal: NodeJS.Signals) => {
    came ??= signal;
  };
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  for (const signal of signals) process.on(signal, onSignal);
  return {
    release: () => {
      for (const signal of signals) process.off(signal, onSignal);
      return came;
    },
  };
}
