import { randomFrom } from '../random.ts';
import type { Case } from './cases.ts';

/**
 * This many cases, or all, in an order that follows from the seed. Fair: every fault at every kind of
 * endpoint comes before any of them comes a second time, and among those that are like each other the flow
 * that was tried least. A flow that calls many endpoints counts for no more than one that calls few.
 */
export function sampleOf(cases: readonly Case[], size: number | undefined, seed: number): readonly Case[] {
  const draw = randomFrom(seed);
  const shuffled = cases
    .map((one) => ({ one, order: draw() }))
    .toSorted((a, b) => a.order - b.order)
    .map(({ one }) => one);
  if (size === undefined || size >= cases.length) return shuffled;
  const cells = [...Map.groupBy(shuffled, cellOfCase).values()].map((like) => [...like]);
  const tried = new Map<string, number>();
  const chosen: Case[] = [];
  while (chosen.length < size) {
    for (const like of cells) {
      const least = like.toSorted((a, b) => (tried.get(nameOf(a)) ?? 0) - (tried.get(nameOf(b)) ?? 0))[0];
      if (least === undefined || chosen.length === size) continue;
      like.splice(like.indexOf(least), 1);
      tried.set(nameOf(least), (tried.get(nameOf(least)) ?? 0) + 1);
      chosen.push(least);
    }
  }
  return chosen;
}

function cellOfCase({ kind, plan }: Case): string {
  return `${kind} ${plan.fault} ${plan.times}`;
}

function nameOf({ flow }: Case): string {
  return `${flow.name} ${flow.revision}`;
}
