import type { Hold, StreamName } from '../journal/journal.ts';
import { clockNotes, movedMeanwhile } from './clock-notes.ts';
import { Driver } from './driver.ts';
import type { Run, RunDeps } from './run.ts';

/**
 * Takes a run up where its journal ends and drives it. The exclusive hold on the run and on the ledgers of its instances is taken
 * before anything is read; it rejects with `journal.held` when another process drives the run.
 */
export async function takeUp(deps: RunDeps): Promise<Run> {
  const holds: Hold[] = [];
  try {
    holds.push(await deps.journal.hold(`run/${deps.runId}`));
    // In the order of their names: two runs over the same two instances must not each hold one and wait for the other.
    for (const name of [...new Set([deps.instance, deps.target ?? deps.instance])].sort()) {
      holds.push(await deps.journal.hold(`instance/${name}`));
      deps.refuseCutTail(await deps.journal.head(`instance/${name}`));
    }
    const stream: StreamName = `run/${deps.runId}`;
    const entries = [...(await deps.journal.read(stream))];
    const head = await deps.journal.head(stream);
    deps.refuseCutTail(head);
    const clock = deps.clock?.mark();
    const notes = clockNotes(movedMeanwhile(entries, clock)).map((note) => ({ stream, ...note }));
    const body = { pid: process.pid, ...(clock === undefined ? {} : { clock }) };
    if (entries.length > 1) notes.push({ stream, type: 'run.resumed', body });
    if (notes.length > 0) entries.push(...(await deps.journal.append(notes, [head])));
    return new Driver(deps, entries, () => {
      for (const hold of holds) hold.release();
    });
  } catch (thrown) {
    for (const hold of holds) hold.release();
    throw thrown;
  }
}
