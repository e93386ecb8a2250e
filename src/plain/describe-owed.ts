import { show } from '../base/text.ts';
import { ageWords, dueWords } from '../view/owed.ts';
import type { ObligationView, QuestionOption } from '../view/run-view.ts';

/** Longest command that is printed whole. */
const COMMAND_LIMIT = 4000;

/** What is owed in one line: about what, until when, since when and by whom. */
export function owedLine(owed: ObligationView): string {
  const { text, tone } = dueWords(owed);
  const due = tone === 'warn' ? `attention: ${text}` : text;
  const words = [show(owed.what), due, show(ageWords(owed))];
  return words.filter((word) => word !== '').join(', ');
}

/** One obligation in full: the commands to copy, each on a line of its own from its first column, and the ways to settle it. */
export function describeOwed(owed: ObligationView, ways: readonly QuestionOption[]): string[] {
  return [
    `${show(owed.subject)}: ${owedLine(owed)}`,
    ...(owed.commands.length === 0 ? [] : ['by hand, in this order:']),
    ...owed.commands.map((command) => show(command, COMMAND_LIMIT)),
    ...ways.map(({ label, hint }, at) => `  ${at + 1} ${label}${hint === undefined ? '' : `: ${hint}`}`),
  ];
}
