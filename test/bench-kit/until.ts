import { setTimeout as pause } from 'node:timers/promises';

/** Waits for a condition. Rejects when it does not come true. */
export async function until(condition: () => Promise<boolean> | boolean, limitMs = 300_000): Promise<void> {
  for (const began = performance.now(); !(await condition()); ) {
    if (performance.now() - began > limitMs) throw new Error(`it did not come true in ${limitMs} ms`);
    await pause(15);
  }
}
