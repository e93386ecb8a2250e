import { msOf } from '../base/instant.ts';
import { show } from '../base/text.ts';
import { ageWords, doneCommand, dueWords } from '../view/follow-up-words.ts';
import { nowOf } from '../view/moment-reader.ts';
import { stakesWords } from '../view/question-words.ts';
import type { FollowUpView, QuestionOption, QuestionView, RunView } from '../view/run-view.ts';
import { formatHere } from '../view/zone.ts';
import { describeApproval } from './describe-approval.ts';

/** Longer than any command. */
const COMMAND_LIMIT = 4_000;

/**
 * For an operator: with the numbers to type. Without one: with the flags that would have answered it, so that
 * readers of a job's log know how to continue.
 */
export function describeQuestion(
  question: QuestionView,
  { runId, gone, clock }: Pick<RunView, 'runId' | 'gone' | 'clock'>,
  reader: 'operator' | 'nobody',
): string[] {
  const open = question.kind === 'followUps' ? question.open : [];
  const options = question.options.flatMap((option, at) => describeOption(option, open.length + at, reader));
  const now = nowOf({ clock }).getTime();
  return [
    `question: ${show(question.prompt)}`,
    ...(question.kind === 'typed-name' ? describeStakes(question, now) : []),
    ...describeApproval(question),
    ...describeTrouble(question),
    ...(question.kind === 'time' ? describeRange(question) : []),
    ...open.map((one, at) => `  ${reader === 'operator' ? `${at + 1}` : '-'} ${followUpLine(one)}`),
    ...options,
    ...(reader === 'operator'
      ? howToType(question)
      : howToAnswer(question, gone === undefined ? [answerLater(runId)] : [])),
  ];
}

function describeStakes({ stakes }: QuestionView & { kind: 'typed-name' }, now: number): string[] {
  return stakesWords(stakes, now).map(({ name, text }) => `  ${`${name}:`.padEnd(13)}${show(text)}`);
}

/** Each command is whole on a line of its own. */
function describeTrouble(question: QuestionView): string[] {
  if (question.kind !== 'choice' || question.trouble === undefined) return [];
  const { facts, commands } = question.trouble;
  return [
    ...facts.map(({ label, value }) => `  ${`${label}:`.padEnd(9)}${show(value)}`),
    ...commands.flatMap(({ when, command }) => [`  ${show(when)}:`, `    ${show(command, COMMAND_LIMIT)}`]),
  ];
}

/** The marks and both ends of the range, in local time and in UTC. */
function describeRange({ earliest, latest, marks }: QuestionView & { kind: 'time' }): string[] {
  return [
    ...marks.backups.map((at) => ['a backup was made at', at]),
    ...(marks.incident === undefined ? [] : [['it went wrong at', marks.incident]]),
    ['from', earliest],
    ['to', latest],
  ].map(([word = '', edge = '']) => {
    const at = msOf(edge);
    const [shown, utc] = Number.isNaN(at) ? [show(edge)] : formatHere(at);
    return `  ${word.padEnd(4)} ${shown}${utc === undefined ? '' : ` (${utc})`}`;
  });
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
  const others =
    '/1 chooses the first of the other answers, /q leaves the run open, /s prints the fallback script';
  switch (question.kind) {
    case 'choice':
      return ['type a number and Enter; q leaves the run open, s prints the fallback script'];
    case 'followUps':
      return [
        'type a number and Enter to see how it is closed; q leaves the run open, s prints the fallback script',
      ];
    case 'secret':
      return [`type the secret (it is not shown) and Enter; ${others}`];
    case 'time':
      return [`type a time such as 14:32, 14:32 UTC or 10 minutes ago, and Enter; ${others}`];
    case 'text': {
      const pattern = question.pattern === undefined ? '' : ` (${show(question.pattern.says)})`;
      return [`type the text and Enter${pattern}; ${others}`];
    }
    case 'typed-name':
      return [`type ${show(question.expected)} and Enter to confirm; ${others}`];
  }
}

function answerLater(runId: string): string {
  return `to answer it yourself, in a terminal: lifeboat resume ${show(runId)}`;
}

function howToAnswer(question: QuestionView, inTerminal: readonly string[]): string[] {
  if (question.kind === 'typed-name' && question.event === 'operator.override')
    return ['no flag answers this', ...inTerminal];
  if (question.kind === 'typed-name')
    return [
      `--confirm ${show(question.expected)} answers this` +
        `${question.approval === undefined ? '' : ', once it is approved'}`,
      ...inTerminal,
    ];
  if (question.kind === 'secret') {
    return ['a secret comes from the keychain, a file or stdin, never from the command line', ...inTerminal];
  }
  if (question.kind === 'time') return ['--to TIME answers this', ...inTerminal];
  if (question.kind === 'text') return ['--guid WORD answers this', ...inTerminal];
  if (question.kind === 'followUps') {
    return [
      ...question.open.map(({ id }) => `${doneCommand(id)} closes it by hand`),
      ...flagFor(question),
      ...inTerminal,
    ];
  }
  const isOfGuid = question.options.some(({ event }) => event === 'operator.typeGuid');
  const flag = [
    ...flagFor(question),
    ...(isOfGuid ? ['--guid WORD answers this with a guid or a backup_id'] : []),
  ];
  return [...(flag.length === 0 ? ['no flag answers this'] : flag), ...inTerminal];
}

/** For `--yes`. */
function flagFor(question: QuestionView): string[] {
  const recommended = question.options.find((option) => option.recommended && option.disabled === undefined);
  return recommended === undefined || recommended.needs !== undefined
    ? []
    : [`--yes answers this with: ${show(recommended.label)}`];
}

/** What to do, until when, since when and by whom. */
export function followUpLine(followUp: FollowUpView): string {
  const { text, tone } = dueWords(followUp);
  const due = tone === 'warn' ? `attention: ${text}` : text;
  const words = [show(followUp.what), due, show(ageWords(followUp))];
  return words.filter((word) => word !== '').join(', ');
}

/** With the commands to copy, each on a line of its own from the first column, and the ways to close it. */
export function describeFollowUp(followUp: FollowUpView, ways: readonly QuestionOption[]): string[] {
  return [
    `${show(followUp.subject)}: ${followUpLine(followUp)}`,
    ...(followUp.commands.length === 0
      ? []
      : [followUp.doable === 'run' ? 'from a shell, after you left this run:' : 'by hand, in this order:']),
    ...followUp.commands.map((command) => show(command, COMMAND_LIMIT)),
    ...ways.map(({ label, hint }, at) => `  ${at + 1} ${label}${hint === undefined ? '' : `: ${hint}`}`),
  ];
}
