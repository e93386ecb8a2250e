/**
 * Aborts after this many milliseconds, with a `TimeoutError`; keeps no process alive. Use it instead of
 * `AbortSignal.timeout`: Node 24 keeps each signal that `AbortSignal.any` makes of such a one, and that is
 * part of a further one, until the process ends (`gcPersistentSignals` in its abort_controller.js).
 */
export function timeLimit(ms: number): AbortSignal {
  const over = new AbortController();
  setTimeout(() => over.abort(new DOMException(`not done within ${ms} ms`, 'TimeoutError')), ms).unref();
  return over.signal;
}
