import { setTimeout as pause } from 'node:timers/promises';
import { steadyNow } from './clock.ts';
import { isBroken } from './trouble.ts';

/** Tries again while the connection breaks and there is time. */
export async function persist<T>(work: () => Promise<T>, end: number): Promise<T> {
  for (let wait = 20; ; wait = Math.min(wait * 2, 500)) {
    try {
      return await work();
    } catch (error) {
      if (!isBroken(error) || steadyNow() + wait > end) throw error;
      await pause(wait);
    }
  }
}
