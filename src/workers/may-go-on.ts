import { msOf } from '../base/instant.ts';
import type { RunProgress } from '../store/projections/runs.ts';

/* What the record says of a run left to the workers. Pure, so that all workers and displays decide alike. */

/** Whether the record lets a worker go on with a run. One that waits for a person may not. */
export function mayGoOn({ status, isForWorkers, awaits }: RunProgress): boolean {
  return status === 'open' && isForWorkers === true && awaits !== 'person';
}

/** Nothing was written for so long that a wake-up may be lost. Only the run's hold tells if it is at work. */
export function isQuiet({ lastAt }: RunProgress, nowMs: number, quietMs: number): boolean {
  return nowMs - msOf(lastAt) >= quietMs;
}

/** How many runs may be at work at once; undefined: any number. */
export interface Limits {
  /** On the instances of one service host. */
  readonly perHost?: number | undefined;
  /** Of the whole store. */
  readonly perTeam?: number | undefined;
}

/**
 * The limit that keeps a run from starting work now, if any. Counted by the record: the run of a dead process
 * counts until another takes it up, since what it left at the service is unknown. So none keeps that run from
 * being taken up, or processes that died together would block one another for ever.
 */
export function limitOn(
  open: readonly RunProgress[],
  run: RunProgress,
  { perHost, perTeam }: Limits,
  hostOf: (instance: string) => string | undefined,
): 'perHost' | 'perTeam' | undefined {
  if (!run.isLeft) return undefined;
  const others = open.filter(
    ({ runId, isLeft, runbook }) => runId !== run.runId && !isLeft && runbook !== 'plan',
  );
  if (perTeam !== undefined && others.length >= perTeam) return 'perTeam';
  const host = hostOfRun(run, hostOf);
  if (perHost === undefined || host === undefined) return undefined;
  return others.filter((one) => hostOfRun(one, hostOf) === host).length >= perHost ? 'perHost' : undefined;
}

function hostOfRun(
  { instance, target, runbook }: RunProgress,
  hostOf: (instance: string) => string | undefined,
): string | undefined {
  return runbook === 'plan-step' ? undefined : hostOf(target ?? instance);
}
