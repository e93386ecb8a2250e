/** Resolves at the first SIGINT, SIGTERM or SIGHUP; later ones do not cut the clean-up short. */
export function stopSignal(): {
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
  return {
    signal: controller.signal,
    stopped,
    release() {
      for (const signal of signals) process.off(signal, stop);
    },
  };
}
