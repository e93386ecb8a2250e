import { show } from '../../base/text.ts';
import type { LoadedConfig } from '../../config/loaded.ts';
import type { HostPace } from '../../service/host-pace.ts';
import { type Journal, LIMITS_STREAM } from '../../store/journal.ts';
import { progressOfOpenRuns, type RunProgress } from '../../store/projections/runs.ts';
import { limitOn } from '../../workers/may-go-on.ts';
import type { HeldBack } from '../../workers/worker.ts';
import { atOnce, type InTurn } from '../plans/plan-setting.ts';
import { holdInTurn } from './hold-in-turn.ts';

/** Milliseconds to wait for another worker's decision. */
const PATIENCE_MS = 5_000;

/** A limit that is reached is asked about again after this long. Milliseconds. */
const LIMITED: HeldBack = { againMs: 1_000 };

/** Thrown where a run was to be taken up and may not be now. Nothing was taken. */
class NotNow extends Error {
  readonly back: HeldBack;

  constructor(back: HeldBack) {
    super('the run is held back');
    this.back = back;
  }
}

/**
 * Drives a run within the config's limits. Workers take up runs in turn under one hold, by the record: no two
 * take the last place, and a dead process frees none. `drive` opens what the run needs, which may ask a
 * service, and takes it up by what it is given: so a service that hangs keeps no other worker from its turn.
 * Takes nothing at a limit, without a turn, or while the changed host asks this process to spare it.
 */
export async function withinLimits<T>(
  journal: Pick<Journal, 'hold' | 'rows'>,
  { workers, instances }: Pick<LoadedConfig, 'workers' | 'instances'>,
  run: RunProgress,
  pace: HostPace,
  drive: (inTurn: InTurn) => Promise<T>,
): Promise<T | HeldBack> {
  const url = instances[run.target ?? run.instance]?.url;
  const againMs = url === undefined ? 0 : pace.waitMs(url);
  if (url !== undefined && againMs > 0)
    return { againMs, why: `${show(new URL(url).host, 60)} has asked to be spared` };
  if (run.runbook === 'plan' || (workers?.perHost === undefined && workers?.perTeam === undefined))
    return drive(atOnce);
  const hostOf = (name: string) => {
    const url = instances[name]?.url;
    return url === undefined ? undefined : new URL(url).host;
  };
  const isFull = async () => {
    const open = await progressOfOpenRuns(journal);
    // Another process may have left it since.
    const now = open.find(({ runId }) => runId === run.runId) ?? run;
    return limitOn(open, now, workers, hostOf) !== undefined;
  };
  if (await isFull()) return LIMITED;
  const inTurn: InTurn = async (takeUp) => {
    const hold = await holdInTurn(journal, LIMITS_STREAM, PATIENCE_MS);
    if (hold === undefined) throw new NotNow(LIMITED);
    try {
      if (await isFull()) throw new NotNow(LIMITED);
      return await takeUp();
    } finally {
      await hold.release();
    }
  };
  try {
    return await drive(inTurn);
  } catch (thrown) {
    if (thrown instanceof NotNow) return thrown.back;
    throw thrown;
  }
}
