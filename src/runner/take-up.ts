import { fieldsOf, type StreamName } from '../store/journal.ts';
import { servicesIn } from '../store/projections/runs.ts';
import { isEnd } from '../store/run-entries.ts';
import { assertNotInDoubt, changedBy } from './assert-not-in-doubt.ts';
import { Driver } from './driver.ts';
import { Holds } from './holds.ts';
import type { Run, RunDeps } from './run.ts';
import { inputOf } from './run-log.ts';
import { endedMeanwhile, ledgersOf } from './runs.ts';
import { clockNotes, movedMeanwhile } from './time-notes.ts';

/**
 * Takes up a run where its journal ends, and drives it. Takes the exclusive hold on the run before reading
 * it, then those on its instances' ledgers. Rejects with `journal.held` if another process drives the run,
 * and with `call.in-doubt` (exit 5) while another process's call to one of its instances is in doubt; the run
 * asks about its own.
 */
export async function takeUp(deps: RunDeps): Promise<Run> {
  const stream: StreamName = `run/${deps.runId}`;
  const holds = new Holds(deps.journal);
  try {
    await holds.take(stream);
    const entries = [...(await deps.journal.read(stream))];
    const ledgers = ledgersOf(deps.runbook, { ...deps, input: inputOf(entries) });
    await holds.take(...ledgers.map((name): StreamName => `instance/${name}`));
    if (entries.find(isEnd)?.type === 'run.abandoned') throw endedMeanwhile(deps.runId);
    await assertNotInDoubt(deps.journal, changedBy({ ...deps, input: inputOf(entries) }), {
      own: deps.runId,
      services: servicesIn(entries[0]?.body),
    });
    const admitted = await deps.admit?.(entries);
    const isNews = Object.keys(admitted?.resumed ?? {}).length > 0;
    const clock = deps.clock?.mark();
    const notes = clockNotes(movedMeanwhile(entries, clock), deps.journal).map((note) => ({
      stream,
      ...note,
    }));
    const body = { pid: process.pid, ...(clock === undefined ? {} : { clock }), ...admitted?.resumed };
    // The first entry already names the process that just began the run, unless it left the run to others.
    const isOfOther = entries.length > 1 || fieldsOf(entries[0]?.body)['workers'] !== undefined;
    if (isOfOther || isNews) notes.push({ stream, type: 'run.resumed', body });
    notes.push(...(admitted?.notes ?? []).map((note) => ({ stream, ...note })));
    // Nothing may follow the end that another process wrote.
    if (notes.length > 0 && !entries.some(isEnd))
      entries.push(...(await deps.journal.append(notes, holds.all)));
    await deps.held?.();
    return new Driver(deps, entries, holds);
  } catch (thrown) {
    await holds.release();
    throw thrown;
  }
}
