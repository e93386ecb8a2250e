import { replacesData, touchesOf } from '../../machines/parts/touches.ts';
import { fieldsOf, type JournalReader } from '../store/journal.ts';
import type { RunSummary } from '../store/projections/run-summary.ts';
import { runs, summariesOf } from '../store/projections/runs.ts';

/** Older recoveries are not looked for: a board must not read all runs. */
const MAX_RUNS = 500;

/** The newest runs that are closed and proven, the newest first. */
export async function newestProven(journal: Pick<JournalReader, 'rows'>): Promise<readonly RunSummary[]> {
  const rows = await journal.rows(runs.name, { limit: MAX_RUNS, order: 'descending' });
  return summariesOf(rows).filter((run) => run.status === 'closed' && run.proven);
}

/**
 * For each of these instances the first of these runs that brought data of it back, or data into it. Reads no
 * run of which each instance has a newer one.
 */
export async function newestRecoveries(
  journal: Pick<JournalReader, 'read'>,
  names: readonly string[],
  proven: readonly RunSummary[],
): Promise<ReadonlyMap<string, RunSummary>> {
  const wanted = new Set(names);
  const found = new Map<string, RunSummary>();
  for (const run of proven) {
    const missing = touchedBy(run).filter((name) => wanted.has(name) && !found.has(name));
    if (missing.length > 0 && (await bringsDataBack(journal, run)))
      for (const name of missing) found.set(name, run);
  }
  return found;
}

export function touchedBy({ instance, target }: Pick<RunSummary, 'instance' | 'target'>): readonly string[] {
  return [...new Set([instance, target ?? instance])];
}

/**
 * Brings data back, or into its target. With a target the first entry states the mode, and for a single
 * change which one; otherwise the runbook decides, and nothing is read.
 */
export async function bringsDataBack(
  journal: Pick<JournalReader, 'read'>,
  { runId, runbook, target }: Pick<RunSummary, 'runId' | 'runbook' | 'target'>,
): Promise<boolean> {
  const isDecided = target === undefined && runbook !== 'single-change';
  const [started] = isDecided ? [] : await journal.read(`run/${runId}`);
  const touches = touchesOf(runbook, started === undefined ? {} : fieldsOf(started.body)['input']);
  return touches !== undefined && replacesData(touches);
}
