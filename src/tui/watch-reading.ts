/** How exactly `emptyAt` is known while it is followed and nothing holds the process up. */
const BEAT_MS = 20;

/** When what is read now may have come at the earliest. */
export interface Reading {
  /**
   * A time: what is read after the call came after that time, however long the process was held up in
   * between. It stands still unless it is followed.
   */
  emptyAt(): number;
  /** Moves `emptyAt` on until it has reached this time. */
  follow(until: number): void;
}

/** Watches when the process last read all that had come, on the clock `now`. `stop` ends it. */
export function watchReading(now: () => number): Reading & { stop(): void } {
  let emptyAt = now();
  let end = emptyAt;
  let beating: NodeJS.Timeout | undefined;
  let confirming: NodeJS.Immediate | undefined;
  const beat = () => {
    const at = now();
    // Node reads between its timers and its immediates, so by then all that came before `at` was read.
    confirming = setImmediate(() => {
      emptyAt = at;
      beating = emptyAt < end ? setTimeout(beat, BEAT_MS) : undefined;
    });
  };
  return {
    emptyAt: () => emptyAt,
    follow(until) {
      end = Math.max(end, until);
      if (emptyAt < end) beating ??= setTimeout(beat, BEAT_MS);
    },
    stop() {
      clearTimeout(beating);
      clearImmediate(confirming);
    },
  };
}
