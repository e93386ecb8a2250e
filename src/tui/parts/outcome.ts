import type { OutcomeView } from '../../view/run-view.ts';
import { ruleLine, wrapLine } from '../line.ts';
import { type Line, type Look, span } from '../span.ts';
import { limitRows } from './facts.ts';
import { signOf, tokenOf } from './tones.ts';

/** How the run ended, in at most `limit` rows. */
export function outcomeLines(outcome: OutcomeView, width: number, limit: number, look: Look): Line[] {
  const token = tokenOf(outcome.tone);
  const title = wrapLine(
    [span(`${signOf(outcome.tone, look)} `, token), span(outcome.title, token)],
    width,
    2,
  );
  const lines = outcome.lines.flatMap((line) => wrapLine([span(`  ${line}`)], width, 2));
  return limitRows([ruleLine('outcome', width, look), ...title, ...lines], limit, width, look);
}
