import { setTimeout as pause } from 'node:timers/promises';
import { LifeboatError } from '../../base/errors.ts';
import type { Hold, Journal, StreamName } from '../../store/journal.ts';

/** Milliseconds between attempts. */
const ASK_MS = 50;

/** Workers hold this stream in turn, each for a moment; undefined if it is still held after `patienceMs`. */
export async function holdInTurn(
  journal: Pick<Journal, 'hold'>,
  stream: StreamName,
  patienceMs: number,
): Promise<Hold | undefined> {
  for (let waited = 0; waited < patienceMs; waited += ASK_MS) {
    try {
      return await journal.hold(stream);
    } catch (thrown) {
      if (!(thrown instanceof LifeboatError) || thrown.code !== 'journal.held') throw thrown;
      await pause(ASK_MS);
    }
  }
  return undefined;
}
