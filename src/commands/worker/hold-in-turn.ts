import { setTimeout as pause } from 'node:timers/promises';
import { LifeboatError } from '../../base/errors.ts';
import type { Hold, Journal, StreamName } from '../../store/journal.ts';

/** How often a stream is asked for that another worker has. Milliseconds. */
const ASK_MS = 50;

/**
 * The hold of a stream that workers have one after another, each for a moment; undefined if another process
 * still has it after `patienceMs`.
 */
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
