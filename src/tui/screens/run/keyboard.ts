import { QUIET_MS } from '../../../view/question-words.ts';
import type { Keyboard, KeyRead, Press } from './screen-state.ts';

/**
 * How long after a key press its first automatic repeat may come. Keyboards wait up to 660 ms (the default of
 * X11; 500 ms elsewhere), and then repeat every 30 to 100 ms.
 */
export const FIRST_REPEAT_MS = 700;

/**
 * Whether a key was meant for what is shown: nothing new appeared and no other key was pressed for `QUIET_MS`
 * before it, and it is not the first repeat of the key that led here. A key that is held down never gets
 * through, because each repeat restarts the wait. A key may sit in a buffer before it is read. So the wait
 * counts from when the previous key was read to the earliest time at which this one can have been pressed: it
 * is underestimated, never overestimated.
 */
export function isMeant({ quietSince, before }: Keyboard, read: KeyRead): boolean {
  if (quietSince === undefined) return true;
  const { key, isHeld, now, since = now } = read;
  if (isHeld === true || since - quietSince < QUIET_MS) return false;
  return before?.key !== key || since - before.at >= FIRST_REPEAT_MS;
}

/** After this time every key counts as meant, so when exactly it was pressed no longer matters. */
export function judgedUntil({ quietSince, before }: Keyboard): number {
  if (quietSince === undefined) return Number.NEGATIVE_INFINITY;
  return Math.max(quietSince + QUIET_MS, before === undefined ? 0 : before.at + FIRST_REPEAT_MS);
}

export function withKey(keyboard: Keyboard, read: KeyRead): Keyboard {
  const last: Press = { key: read.key, at: read.now };
  return isMeant(keyboard, read) ? { last } : { last, quietSince: read.now };
}

/** Restarts the wait because something new appeared on the screen. */
export function withNewToRead({ last }: Keyboard, now: number): Keyboard {
  return { ...(last !== undefined && { last, before: last }), quietSince: now };
}
