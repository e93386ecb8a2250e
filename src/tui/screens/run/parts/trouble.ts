import type { QuestionView, WayOn } from '../../../../view/run-view.ts';
import { commandLines } from '../../../command-lines.ts';
import { wrapLine } from '../../../line.ts';
import { type Line, type Look, span } from '../../../span.ts';
import { factLines } from './facts.ts';

/**
 * What there is to know of a failure that is asked about, and the commands that lead on, the most helpful on
 * top, each on rows of its own from the edge of the screen, so that it can be copied. Empty for any other
 * question.
 */
export function troubleLines(question: QuestionView, width: number, look: Look): Line[] {
  if (question.kind !== 'choice' || question.trouble === undefined) return [];
  const { facts, commands } = question.trouble;
  const [first = [], ...others] = commands.map(({ when, command, leadsTo }, at) => [
    ...wrapLine([span(`${when}${at === 0 ? keysOf(leadsTo) : ''}:`, 'text.dim')], width),
    ...commandLines(command, width).lines,
  ]);
  return [...first, ...factLines(facts, width, look), ...others.flat()];
}

function keysOf(leadsTo: WayOn['leadsTo']): string {
  return leadsTo === undefined ? ' (y copies it)' : ' (w; y copies it)';
}
