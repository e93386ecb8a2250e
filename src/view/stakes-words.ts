import { formatSpan } from '../base/format.ts';
import type { StakesView } from './run-view.ts';

/** What a confirmation costs: three facts in their order, each with its name. */
export function stakesWords(
  { overwritten, lost, lostSince, wayBack }: StakesView,
  now: number,
): readonly { readonly name: string; readonly text: string }[] {
  return [
    { name: 'overwritten', text: overwritten },
    { name: 'lost', text: `${lost}${agoWords(lostSince, now)}` },
    { name: 'way back', text: wayBack },
  ];
}

function agoWords(since: string | undefined, now: number): string {
  const seconds = (now - Date.parse(since ?? '')) / 1000;
  // In whole minutes: what stands beside a field to type in should hold still.
  return seconds >= 60 ? ` (${formatSpan(Math.floor(seconds / 60) * 60)} ago)` : '';
}
