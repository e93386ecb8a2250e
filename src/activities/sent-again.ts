import type { SendOutcome } from '../service/client.ts';

const ATTEMPTS = 3;

/**
 * Sends what changes nothing more when it is sent again, until there is an answer, at most three times. The last outcome, whatever it is: a
 * lost answer to such a call is worth no question of a person.
 */
export async function sentAgain<T>(
  send: () => Promise<SendOutcome<T>>,
  signal: AbortSignal,
): Promise<SendOutcome<T>> {
  let sent = await send();
  for (let attempts = 1; attempts < ATTEMPTS && sent.outcome === 'unknown' && !signal.aborted; attempts += 1)
    sent = await send();
  return sent;
}
