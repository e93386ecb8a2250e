import type { Run } from '../../src/runner/run.ts';
import type { Position } from './seen.ts';

/** Where a run stands, by its journal. Undefined while no verb is under way. */
export function positionOf(
  run: Run | undefined,
  requests: ReadonlyMap<string, number>,
  route: string,
): Position | undefined {
  if (run === undefined) return undefined;
  const { entries } = run.state();
  const begun = entries.filter(({ type }) => type === 'activity.begun');
  const last = begun.at(-1);
  if (last === undefined) return undefined;
  const { verb } = last.body as { readonly verb: string };
  const turn = begun.filter(({ body }) => (body as { verb: string }).verb === verb).length;
  const index = requests.get(`${verb} ${turn}`) ?? 0;
  const sameBefore = requests.get(`${verb} ${turn} ${route}`) ?? 0;
  return { verb, turn, index, sameBefore, hasSent: requests.has(`${verb} ${turn} changes`) };
}

/** Counts a request to where it came from. */
export function count(
  { verb, turn, index, sameBefore }: Position,
  route: string,
  requests: Map<string, number>,
): void {
  if (!route.startsWith('GET ')) requests.set(`${verb} ${turn} changes`, 1);
  requests.set(`${verb} ${turn}`, index + 1).set(`${verb} ${turn} ${route}`, sameBefore + 1);
}

/**
 * Whether two requests of one route are the same step of two runs, however often something else was asked for
 * in between.
 */
export function isSame(one: Position, other: Position): boolean {
  return one.verb === other.verb && one.turn === other.turn && one.sameBefore === other.sameBefore;
}

/** Whether the next request of a run will be this one. */
export function isNext(one: Position, now: Position): boolean {
  return one.verb === now.verb && one.turn === now.turn && one.index === now.index;
}
