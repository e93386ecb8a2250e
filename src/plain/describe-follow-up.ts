import { show } from '../base/text.ts';
import { ageWords, dueWords } from '../view/follow-up-words.ts';
import type { FollowUpView, QuestionOption } from '../view/run-view.ts';

/** Longest command that is printed whole. */
const COMMAND_LIMIT = 4000;

/** The follow-ups in one line: about what, until when, since when and by whom. */
export function followUpLine(openFollowUps: FollowUpView): string {
  const { text, tone } = dueWords(openFollowUps);
  const due = tone === 'warn' ? `attention: ${text}` : text;
  const words = [show(openFollowUps.what), due, show(ageWords(openFollowUps))];
  return words.filter((word) => word !== '').join(', ');
}

/** One follow-up in full: the commands to copy, each on a line of its own from its first column, and the ways to resolve it. */
export function describeFollowUp(openFollowUps: FollowUpView, ways: readonly QuestionOption[]): string[] {
  return [
    `${show(openFollowUps.subject)}: ${followUpLine(openFollowUps)}`,
    ...(openFollowUps.commands.length === 0 ? [] : ['by hand, in this order:']),
    ...openFollowUps.commands.map((command) => show(command, COMMAND_LIMIT)),
    ...ways.map(({ label, hint }, at) => `  ${at + 1} ${label}${hint === undefined ? '' : `: ${hint}`}`),
  ];
}
