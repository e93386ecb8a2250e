/** Resolves at the first SIGINT, SIGTERM, SIGHUP, or abort of `also`; later ones do not end the clean-up. */
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

export interface EarlySignals {
  /** Restores the signals' effect, or that of later listeners; returns the first signal received. */
  release(): NodeJS.Signals | undefined;
}

/**
 * Ignores SIGINT, SIGTERM and SIGHUP while a run is begun: the record must be in order, the exit resumable.
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
