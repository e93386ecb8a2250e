import { QUIET_MS } from '../../../view/question-words.ts';
import type { Keyboard, KeyRead, Press } from './screen-state.ts';

/**
 * How long after a key was pressed it may come again by itself. Keyboards wait up to 660 ms before they
 * repeat a key that is held down (the default of X11; 500 ms elsewhere), and then repeat it every 30 to 100
 * ms.
 */
export const FIRST_REPEAT_MS = 700;

/**
 * Whether a key was meant for what is shown: nothing new came to stand there and no other key was pressed for
 * `QUIET_MS` before it, and it is not the first repeat of the key that led there. A key that is held down
 * never gets through, for each of its repeats begins the wait again.
 *
 * A key may wait to be read. So a wait begins when a key was read and ends before the next one could have
 * been pressed: it is measured as shorter than it was, never as longer.
 */
export function isMeant({ quietSince, before }: Keyboard, read: KeyRead): boolean {
  if (quietSince === undefined) return true;
  const { key, isHeld, now, since = now } = read;
  if (isHeld === true || since - quietSince < QUIET_MS) return false;
  return before?.key !== key || since - before.at >= FIRST_REPEAT_MS;
}

/** From when on every other key is meant, whatever it is: until then it matters when one was pressed. */
export function judgedUntil({ quietSince, before }: Keyboard): number {
  if (quietSince === undefined) return Number.NEGATIVE_INFINITY;
  return Math.max(quietSince + QUIET_MS, before === undefined ? 0 : before.at + FIRST_REPEAT_MS);
}

/** The keyboard after a key. */
export function withKey(keyboard: Keyboard, read: KeyRead): Keyboard {
  const last: Press = { key: read.key, at: read.now };
  return isMeant(keyboard, read) ? { last } : { last, quietSince: read.now };
}

/** The keyboard when something new came to stand on the screen. */
export function withNewToRead({ last }: Keyboard, now: number): Keyboard {
  return { ...(last !== undefined && { last, before: last }), quietSince: now };
}
