import { QUIET_MS } from '../view/question-key.ts';
import type { Keyboard, Press } from './screen-state.ts';

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
 */
export function isMeant({ quietSince, before }: Keyboard, { key, now }: KeyAction): boolean {
  if (quietSince === undefined) return true;
  if (now - quietSince < QUIET_MS) return false;
  return before?.key !== key || now - before.at >= FIRST_REPEAT_MS;
}

/** The keyboard after a key. */
export function withKey(keyboard: Keyboard, { key, now }: KeyAction): Keyboard {
  const last: Press = { key, at: now };
  return isMeant(keyboard, { key, now }) ? { last } : { last, quietSince: now };
}

/** The keyboard when something new came to stand on the screen. */
export function withNewToRead({ last }: Keyboard, now: number): Keyboard {
  return { ...(last !== undefined && { last, before: last }), quietSince: now };
}

interface KeyAction {
  readonly key: string;
  readonly now: number;
}
