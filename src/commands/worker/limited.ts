import { show } from '../../base/text.ts';
import type { LoadedConfig } from '../../config/loaded.ts';
import type { HostPace } from '../../service/host-pace.ts';
import { type Journal, LIMITS_STREAM } from '../../store/journal.ts';
import { progressOfOpenRuns, type RunProgress } from '../../store/projections/runs.ts';
import { limitOn } from '../../workers/may-go-on.ts';
import type { HeldBack } from '../../workers/worker.ts';
import { holdInTurn } from './hold-in-turn.ts';

/** Milliseconds to wait for another worker's decision. */
const PATIENCE_MS = 5_000;

/** A limit that is reached is asked about again after this long. Milliseconds. */
const LIMITED: HeldBack = { againMs: 1_000 };

/**
 * Within the config's limits. Workers decide in turn under one hold, by the record: no two take the last
 * place, and a dead process frees none. Takes nothing at a limit, without a turn, or while the changed host
 * asks this process to spare it.
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
    const open = await progressOfOpenRuns(journal);
    // Another process may have left it since.
    const now = open.find(({ runId }) => runId === run.runId) ?? run;
    const limit = limitOn(open, now, workers, hostOf);
    return limit === undefined ? await takeUp() : LIMITED;
  } finally {
    await hold.release();
  }
}
