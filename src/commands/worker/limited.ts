import type { LoadedConfig } from '../../config/loaded.ts';
import { type Journal, LIMITS_STREAM } from '../../store/journal.ts';
import { progressOfOpenRuns, type RunProgress } from '../../store/projections/runs.ts';
import { limitOn } from '../../workers/may-go-on.ts';
import { holdInTurn } from './hold-in-turn.ts';

/** How long a worker waits for another one that is deciding. Milliseconds. */
const PATIENCE_MS = 5_000;

/**
 * Takes a run up within the limits of the config. Workers decide one after another, under one hold, and the
 * record counts: so no two of them take the last place, and a process that died frees none. Resolves with
 * `limited`, with nothing taken, where a limit is reached, or another worker does not come to its decision.
 */
export async function withinLimits<T>(
  journal: Pick<Journal, 'hold' | 'rows'>,
  { workers, instances }: Pick<LoadedConfig, 'workers' | 'instances'>,
  run: RunProgress,
  takeUp: () => Promise<T>,
): Promise<T | 'limited'> {
  if (run.runbook === 'plan' || (workers?.perHost === undefined && workers?.perTeam === undefined))
    return takeUp();
  const hold = await holdInTurn(journal, LIMITS_STREAM, PATIENCE_MS);
  if (hold === undefined) return 'limited';
  try {
    const hostOf = (name: string) => {
      const url = instances[name]?.url;
      return url === undefined ? undefined : new URL(url).host;
    };
    const limit = limitOn(await progressOfOpenRuns(journal), run, workers, hostOf);
    return limit === undefined ? await takeUp() : 'limited';
  } finally {
    await hold.release();
  }
}
