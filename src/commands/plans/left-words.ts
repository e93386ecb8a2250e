import { NO_INSTANCE } from '../../../machines/parts/plan.ts';
import { show } from '../../base/text.ts';
import type { Start } from '../../plans/schedule.ts';

/** Which run a plan has left open, and what it asks, for people. */
export function leftWords(
  { group, lane, step }: Pick<Start, 'group' | 'lane' | 'step'>,
  { runId, asks }: { readonly runId: string; readonly asks?: string | undefined },
): string {
  const place = lane === NO_INSTANCE ? `${group}/${step}` : `${group}/${lane}/${step}`;
  return `${show(place, 200)}, run ${runId}${asks === undefined ? '' : `, asks: ${show(asks, 200)}`}`;
}
