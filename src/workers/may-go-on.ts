import { msOf } from '../base/instant.ts';
import type { RunProgress } from '../store/projections/runs.ts';

/*
 * What the record says of a run that is left to the workers. All of it is pure, so that every worker, and
 * whoever shows them, decides alike.
 */

/** Whether a worker may go on with a run, as far as its record says. One that waits for a person may not. */
export function mayGoOn({ status, isForWorkers, awaits }: RunProgress): boolean {
  return status === 'open' && isForWorkers === true && awaits !== 'person';
}

/**
 * Whether nothing has been written to a run for so long that a wake-up of it may be lost. Its process may be
 * at work all the same: only its hold says that.
 */
export function isQuiet({ lastAt }: RunProgress, nowMs: number, quietMs: number): boolean {
  return nowMs - msOf(lastAt) >= quietMs;
}

/** How many runs may be at work at once; undefined is any number. */
export interface Limits {
  /** On the instances of one service host. */
  readonly perHost?: number | undefined;
  /** Of the whole store. */
  readonly perTeam?: number | undefined;
}

/**
 * Which limit keeps a run from beginning to work now; undefined if none does. What is at work is counted by
 * the record: the run of a process that died counts until another one has taken it up, since nobody knows
 * what it has left at the service.
 */
export function limitOn(
  open: readonly RunProgress[],
  run: RunProgress,
  { perHost, perTeam }: Limits,
  hostOf: (instance: string) => string | undefined,
): 'perHost' | 'perTeam' | undefined {
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
