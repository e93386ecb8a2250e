import { setTimeout as rest } from 'node:timers/promises';
import type { SendOutcome } from '../service/client.ts';

const ATTEMPTS = 3;
/** A call that the service took. */
export type Accepted<T> = Extract<SendOutcome<T>, { readonly outcome: 'accepted' }>;

/** Before the second attempt; twice as long before the third. */
const PAUSE_MS = 500;

/**
 * Sends what changes nothing more when it is sent again, until there is an answer, at most three times. The
 * last outcome, whatever it is: a lost answer to such a call is worth no question of a person. `isEnough`
 * looks into an answer that was accepted: one without what it was asked for is as good as lost.
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
 * Sends what changes nothing more when it is sent again until it is let in, at most three times. A lost
 * answer is the last one: it matters that an answer was lost.
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

/** When a call that was turned away may be made once more; nothing where the wait is too long. */
export function againAfter(sent: SendOutcome<unknown>): { readonly againMs?: number } {
  return sent.outcome === 'accepted' || sent.againMs === undefined ? {} : { againMs: sent.againMs };
}

function isTurnedAway(sent: SendOutcome<unknown>): boolean {
  return againAfter(sent).againMs !== undefined;
}
