import type { Entry, JournalReader, StreamName } from '../store/journal.ts';
import { isEnd } from '../store/run-entries.ts';

/**
 * The entries of a run, without holding it: first those that are there, then each group as it becomes
 * durable. Ends behind the entry that ends the run, or with the signal. Keeps no process alive.
 */
export async function* followRun(
  journal: Pick<JournalReader, 'read' | 'follow'>,
  runId: string,
  signal: AbortSignal,
): AsyncGenerator<readonly Entry[]> {
  const stream: StreamName = `run/${runId}`;
  const there = await journal.read(stream);
  yield there;
  if (there.some(isEnd)) return;
  const next = (there.at(-1)?.index ?? -1) + 1;
  for await (const group of journal.follow(next, signal)) {
    const own = group.filter((entry) => entry.stream === stream);
    if (own.length > 0) yield own;
    if (own.some(isEnd)) return;
  }
}
