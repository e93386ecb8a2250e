import { show } from '../base/text.ts';
import { ageWords, dueWords } from '../view/follow-up-words.ts';
import type { FollowUpView, QuestionOption } from '../view/run-view.ts';

/** Longest command that is printed whole. */
const COMMAND_LIMIT = 4000;

/** One follow-up in one line: what is to be done, until when, since when and by whom. */
export function followUpLine(followUp: FollowUpView): string {
  const { text, tone } = dueWords(followUp);
  const due = tone === 'warn' ? `attention: ${text}` : text;
  const words = [show(followUp.what), due, show(ageWords(followUp))];
  return words.filter((word) => word !== '').join(', ');
}

/**
 * One follow-up in full: the commands to copy, each on a line of its own from the first column, and the ways
 * to close it.
 */
export function describeFollowUp(followUp: FollowUpView, ways: readonly QuestionOption[]): string[] {
  return [
    `${show(followUp.subject)}: ${followUpLine(followUp)}`,
    ...(followUp.commands.length === 0 ? [] : ['by hand, in this order:']),
    ...followUp.commands.map((command) => show(command, COMMAND_LIMIT)),
    ...ways.map(({ label, hint }, at) => `  ${at + 1} ${label}${hint === undefined ? '' : `: ${hint}`}`),
  ];
}
