import { formatSpan } from '../base/format.ts';
import { isNoReason, noReasonWords } from '../base/reason.ts';
import { Secret } from '../base/secret.ts';
import { show } from '../base/text.ts';
import { waysOf } from '../view/follow-up-words.ts';
import type { MomentReader } from '../view/moment-reader.ts';
import { BREAK_GLASS, notTheName } from '../view/question-words.ts';
import type { Answer } from '../view/run-port.ts';
import type { FollowUpView, QuestionOption, QuestionView } from '../view/run-view.ts';
import { formatHere } from '../view/zone.ts';
import type { Asker } from './ask.ts';
import { describeFollowUp } from './describe-question.ts';

/** Besides the question. */
export interface AskingHelp {
  /** The run's clock. */
  readonly now: () => Date;
  /** Row by row, printable. */
  readonly fallback: () => readonly string[];
  readonly readMoment: MomentReader;
}

/** Until there is an answer, the operator leaves, or the question is gone. */
export async function askLine(
  question: QuestionView,
  asker: Asker,
  help: AskingHelp,
): Promise<Answer | 'leave' | 'gone'> {
  for (;;) {
    const line = await asker.line(
      question.kind === 'secret' ? 'secret: ' : '> ',
      question.kind === 'secret' ? 'hidden' : 'shown',
    );
    if (line === undefined) return 'gone';
    const command = isNumbered(question) ? line.trim() : /^\/(\w+)$/u.exec(line)?.[1];
    if (command === 'q') return 'leave';
    if (command === 's') {
      for (const row of help.fallback()) asker.say(row);
      continue;
    }
    const row = command === undefined ? undefined : rowsOf(question)[Number(command) - 1];
    const answer =
      row === undefined
        ? await direct(question, line, asker, help)
        : row.kind === 'option'
          ? await withOption(row.option, asker, question)
          : await closeFollowUp(row.question, row.followUp, asker);
    if (answer !== undefined) return answer;
  }
}

/** A number alone is an answer; if words are typed, a number needs a slash before it. */
function isNumbered({ kind }: QuestionView): boolean {
  return kind === 'choice' || kind === 'followUps';
}

/** In the order of the numbers: the follow-ups, then the options. */
function rowsOf(question: QuestionView) {
  const followUps =
    question.kind === 'followUps'
      ? question.open.map((one) => ({ kind: 'followUp' as const, question, followUp: one }))
      : [];
  return [...followUps, ...question.options.map((option) => ({ kind: 'option' as const, option }))];
}

/** Shows a follow-up in full, then the ways to close it by number; an empty line leads back. */
async function closeFollowUp(
  question: QuestionView & { kind: 'followUps' },
  followUp: FollowUpView,
  asker: Asker,
): Promise<Answer | undefined> {
  const ways = waysOf(question, followUp);
  for (const row of describeFollowUp(followUp, ways)) asker.say(row);
  const line = (await asker.line('which way (Enter goes back)? '))?.trim() ?? '';
  const way = ways[Number(line) - 1];
  if (way === undefined) {
    asker.say('nothing was chosen');
    return undefined;
  }
  const answer = await withOption(way, asker);
  return answer === undefined ? undefined : { ...answer, id: followUp.id };
}

async function withOption(
  option: QuestionOption,
  asker: Asker,
  question?: QuestionView,
): Promise<Answer | undefined> {
  if (option.disabled !== undefined) {
    asker.say(`not now: ${show(option.disabled)}`);
    return undefined;
  }
  if (option.needs === undefined) return { event: option.event };
  const text = (await asker.line(`${show(option.needs.prompt)}: `))?.trim() ?? '';
  if (text !== '' && option.needs.what === 'reason' && isNoReason(text)) {
    asker.say(noReasonWords(show(text)));
    return undefined;
  }
  if (text !== '' && question?.kind === 'typed-name' && option.event === BREAK_GLASS.event)
    return breakGlass(question, text, asker);
  if (text !== '') return { event: option.event, text };
  asker.say('nothing was typed: nothing happens');
  return undefined;
}

/** A reason alone does not break the glass: the name must still be typed. */
async function breakGlass(
  question: QuestionView & { kind: 'typed-name' },
  reason: string,
  asker: Asker,
): Promise<Answer | undefined> {
  const name = show(question.expected);
  const line = await asker.line(`type ${name} to go on WITHOUT a second person: `);
  if (line === question.expected) return { event: question.event, typed: line, breakGlass: reason };
  asker.say(notTheName(line ?? '', question.expected));
  return undefined;
}

async function direct(
  question: QuestionView,
  line: string,
  asker: Asker,
  help: AskingHelp,
): Promise<Answer | undefined> {
  if (question.kind === 'time' && line.trim() !== '') return momentAnswer(question, line, asker, help);
  if (question.kind === 'text' && line.trim() !== '') return wordAnswer(question, line.trim(), asker);
  if (question.kind === 'typed-name' && line === question.expected)
    return { event: question.event, typed: line };
  if (question.kind === 'secret' && line !== '') return secretAnswer(question, line, asker);
  const isName = question.kind === 'typed-name' && line !== '';
  asker.say(isName ? notTheName(line, question.expected) : 'nothing was chosen');
  return undefined;
}

/** Only reads the text; a separate word accepts the moment, after it was shown in both zones. */
async function momentAnswer(
  question: QuestionView & { kind: 'time' },
  line: string,
  asker: Asker,
  help: AskingHelp,
): Promise<Answer | undefined> {
  const now = help.now();
  const read = await help.readMoment(line, { question, now });
  if ('problem' in read) {
    asker.say(show(read.problem));
    return undefined;
  }
  const at = read.time.getTime();
  for (const shown of formatHere(at)) asker.say(`  ${shown}`);
  const ago = (now.getTime() - at) / 1000;
  if (ago >= 0) asker.say(`  ${formatSpan(ago)} ago: what was written since is lost`);
  const word = (await asker.line('use this time? type y: '))?.trim();
  if (word === 'y') return { event: question.event, time: read.time.toISOString() };
  asker.say('not taken: nothing happens');
  return undefined;
}

function wordAnswer(
  question: QuestionView & { kind: 'text' },
  text: string,
  asker: Asker,
): Answer | undefined {
  const { pattern } = question;
  if (pattern === undefined || new RegExp(`^(?:${pattern.source})$`).test(text))
    return { event: question.event, text };
  asker.say(show(pattern.says));
  return undefined;
}

async function secretAnswer(
  question: QuestionView & { kind: 'secret' },
  line: string,
  asker: Asker,
): Promise<Answer | undefined> {
  if (line.length < question.minLength) {
    asker.say(`too short: at least ${question.minLength} characters are needed`);
    return undefined;
  }
  if (question.twice && (await asker.line('once more, to compare: ', 'hidden')) !== line) {
    asker.say('the two entries differ: start again');
    return undefined;
  }
  return { event: question.event, secret: new Secret(line) };
}
