import { setTimeout as rest } from 'node:timers/promises';
import type { SendOutcome } from '../service/client.ts';

const ATTEMPTS = 3;
/** A call that the service accepted. */
export type Accepted<T> = Extract<SendOutcome<T>, { readonly outcome: 'accepted' }>;

/** Before the second attempt; doubled before the third. */
const PAUSE_MS = 500;

/**
 * Sends a call that is harmless to repeat until there is an answer, at most three times. Returns the last
 * outcome, whatever it is: a lost answer to such a call need not be put to a person. `isEnough` checks an
 * accepted answer: without the requested data it counts as lost.
 */
export function sentAgain<T>(
  send: () => Promise<SendOutcome<T>>,
  signal: AbortSignal,
  isEnough: (answer: Accepted<T>) => boolean = () => true,
): Promise<SendOutcome<T>> {
  return repeat(
    send,
    signal,
    (sent) =>
      sent.outcome === 'unknown' || isTurnedAway(sent) || (sent.outcome === 'accepted' && !isEnough(sent)),
  );
}

/**
 * Sends a call that is harmless to repeat until it is not throttled, at most three times. Stops at a lost
 * answer, since that loss matters.
 */
export function retryThrottled<T>(
  send: () => Promise<SendOutcome<T>>,
  signal: AbortSignal,
): Promise<SendOutcome<T>> {
  return repeat(send, signal, isTurnedAway);
}

async function repeat<T>(
  send: () => Promise<SendOutcome<T>>,
  signal: AbortSignal,
  isWorthAnother: (sent: SendOutcome<T>) => boolean,
): Promise<SendOutcome<T>> {
  for (let attempts = 1; ; attempts += 1) {
    const sent = await send();
    if (attempts >= ATTEMPTS || !isWorthAnother(sent)) return sent;
    const pause = PAUSE_MS * 2 ** (attempts - 1);
    const goesOn = await rest(Math.max(againAfter(sent).againMs ?? 0, pause), true, { signal }).catch(
      () => false,
    );
    if (!goesOn) return sent;
  }
}

/** When a throttled call may be repeated; empty if the wait is too long. */
export function againAfter(sent: SendOutcome<unknown>): { readonly againMs?: number } {
  return sent.outcome === 'accepted' || sent.againMs === undefined ? {} : { againMs: sent.againMs };
}

function isTurnedAway(sent: SendOutcome<unknown>): boolean {
  return againAfter(sent).againMs !== undefined;
}
