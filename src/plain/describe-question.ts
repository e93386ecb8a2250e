import { show } from '../text.ts';
import type { QuestionOption, QuestionView } from '../view/run-view.ts';

/**
 * A question as lines. For an operator: with the numbers to type. For nobody: with what would have answered it, so that
 * whoever reads the log of a job knows how to go on.
 */
export function describeQuestion(
  question: QuestionView,
  runId: string,
  reader: 'operator' | 'nobody',
): string[] {
  const options = question.options.flatMap((option, at) => describeOption(option, at, reader));
  return [
    `question: ${show(question.prompt)}`,
    ...options,
    ...(reader === 'operator' ? howToType(question) : howToAnswer(question, runId)),
  ];
}

function describeOption(option: QuestionOption, at: number, reader: 'operator' | 'nobody'): string[] {
  const mark = reader === 'operator' ? `${at + 1}` : '-';
  const remarks = [
    option.recommended && option.disabled === undefined ? ' (recommended)' : '',
    option.disabled === undefined ? '' : ` (not now: ${show(option.disabled)})`,
  ].join('');
  const hint = option.hint === undefined ? [] : [`      ${show(option.hint)}`];
  return [`  ${mark} ${show(option.label)}${remarks}`, ...hint];
}

function howToType(question: QuestionView): string[] {
  const leave = 'q leaves the run open';
  if (question.kind === 'choice') return [`type a number and Enter; ${leave}`];
  if (question.kind === 'secret')
    return [`type the secret (it is not shown) and Enter; /1 takes the first of the others, /q leaves`];
  return [
    `type ${show(question.expected)} and Enter to confirm; /1 takes the first of the others, /q leaves the run open`,
  ];
}

function howToAnswer(question: QuestionView, runId: string): string[] {
  const inTerminal = `to answer it yourself: lifeboat resume ${show(runId)} in a terminal`;
  if (question.kind === 'typed-name')
    return [`--confirm ${show(question.expected)} answers this`, inTerminal];
  if (question.kind === 'secret') {
    return ['a secret comes from the keychain, a file or stdin, never from the command line', inTerminal];
  }
  const recommended = question.options.find((option) => option.recommended && option.disabled === undefined);
  const flag =
    recommended === undefined || recommended.needs !== undefined
      ? 'no flag answers this'
      : `--yes answers this with: ${show(recommended.label)}`;
  return [flag, inTerminal];
}
