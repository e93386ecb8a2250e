import type { Queue } from '../../queue/queue.ts';
import type { Entry, JournalReader } from '../../store/journal.ts';
import { progressOfRun } from '../../store/projections/runs.ts';

/** After these entries there may be something to do with a run, or with the plan whose step it is. */
const TELLING: ReadonlySet<string> = new Set([
  'run.started',
  'run.detached',
  'run.closed',
  'run.abandoned',
  'plan.wish',
]);

/**
 * Wakes what other processes of this machine write about after the log's first `size` entries: a queue inside
 * this process does not hear of their wake-ups. Ends with the signal; rejects with the journal's errors.
 */
export async function hearOthers(
  journal: JournalReader,
  queue: Pick<Queue, 'wake'>,
  size: number,
  signal: AbortSignal,
): Promise<void> {
  for await (const entries of journal.follow(size, signal)) {
    const found = new Set<string>();
    for (const entry of entries) for (const run of await runsOf(journal, entry)) found.add(run);
    if (found.size > 0) await queue.wake([...found]);
  }
}

async function runsOf(journal: JournalReader, { stream, type }: Entry): Promise<readonly string[]> {
  const [room, runId] = stream.split('/');
  if (!TELLING.has(type) || runId === undefined || (room !== 'run' && room !== 'plan')) return [];
  const run = await progressOfRun(journal, runId);
  if (run?.isForWorkers !== true) return [];
  return run.planRun === undefined ? [runId] : [runId, run.planRun];
}
