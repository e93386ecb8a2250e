import { itemsIn } from '../bench-kit/results.ts';

/** The ids of the runs that `lifeboat runs --json` lists. */
export function runIdsIn(stdout: string): string[] {
  return itemsIn<{ readonly runId: string }>(stdout).map(({ runId }) => runId);
}
