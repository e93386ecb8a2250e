import type { ResolvedGroup } from '../../machines/parts/plan.ts';
import type { GroupResult } from '../../machines/parts/plan-events.ts';
import { lanesOf, type PlanFacts, type Start } from './schedule.ts';

/** What became of the lanes of a group; `simulated` are its runs on a simulated service. */
export function resultOf(group: ResolvedGroup, facts: PlanFacts, simulated: readonly Start[]): GroupResult {
  const states = lanesOf(group, facts).map(({ state, hasFailed }) => ({ is: state.is, hasFailed }));
  const done = states.filter(({ is, hasFailed }) => is === 'done' && !hasFailed).length;
  const failed = states.filter(
    ({ is, hasFailed }) => hasFailed || is === 'failed' || is === 'failing',
  ).length;
  const count = simulated.filter((child) => child.group === group.id).length;
  const beside = count === 0 ? {} : { simulated: count };
  return { group: group.id, done, failed, notRun: states.length - done - failed, ...beside };
}
