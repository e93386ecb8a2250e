import { show } from '../../base/text.ts';
import type { LoadedConfig } from '../../config/loaded.ts';
import type { HostPace } from '../../service/host-pace.ts';
import { type Journal, LIMITS_STREAM } from '../../store/journal.ts';
import { progressOfOpenRuns, type RunProgress } from '../../store/projections/runs.ts';
import { limitOn } from '../../workers/may-go-on.ts';
import type { HeldBack } from '../../workers/worker.ts';
import { holdInTurn } from './hold-in-turn.ts';

/** How long a worker waits for another one that is deciding. Milliseconds. */
const PATIENCE_MS = 5_000;

/** A limit that is reached is asked about again after this long. Milliseconds. */
const LIMITED: HeldBack = { againMs: 1_000 };

/**
 * Takes a run up within the limits of the config. Workers decide one after another, under one hold, and the
 * record counts: so no two of them take the last place, and a process that died frees none. Nothing is taken
 * where a limit is reached, another worker does not come to its decision, or the host that the run changes
 * has asked this process to spare it.
 */
export async function withinLimits<T>(
  journal: Pick<Journal, 'hold' | 'rows'>,
  { workers, instances }: Pick<LoadedConfig, 'workers' | 'instances'>,
  run: RunProgress,
  pace: HostPace,
  takeUp: () => Promise<T>,
): Promise<T | HeldBack> {
  const url = instances[run.target ?? run.instance]?.url;
  const againMs = url === undefined ? 0 : pace.waitMs(url);
  if (url !== undefined && againMs > 0)
    return { againMs, why: `${show(new URL(url).host, 60)} has asked to be spared` };
  if (run.runbook === 'plan' || (workers?.perHost === undefined && workers?.perTeam === undefined))
    return takeUp();
  const hold = await holdInTurn(journal, LIMITS_STREAM, PATIENCE_MS);
  if (hold === undefined) return LIMITED;
  try {
    const hostOf = (name: string) => {
      const url = instances[name]?.url;
      return url === undefined ? undefined : new URL(url).host;
    };
    const limit = limitOn(await progressOfOpenRuns(journal), run, workers, hostOf);
    return limit === undefined ? await takeUp() : LIMITED;
  } finally {
    await hold.release();
  }
}
