import process from 'node:process';
import { failureOf } from '../base/errors.ts';
import { show } from '../base/text.ts';
import { waysOf } from '../view/follow-up-words.ts';
import { type MomentReader, momentReader, nowOf } from '../view/moment-reader.ts';
import { questionKey } from '../view/question-words.ts';
import { type Answer, LEFT, leftBySignal, type RunEnd, type RunPort } from '../view/run-port.ts';
import type { QuestionView } from '../view/run-view.ts';
import { openAsking } from './ask.ts';
import { type AskingHelp, askLine } from './ask-question.ts';
import { describeQuestion } from './describe-question.ts';
import { createReporter } from './reporter.ts';
import { formatSummary } from './summary.ts';
import type { Streams } from './terminal.ts';

export interface PlainOptions {
  /**
   * Gives the answers that the flags decide. Undefined leaves the question to the operator, or, without one,
   * ends this process's part of the run. Without this function and without an operator, another process has
   * to answer, and a question is described only when it stays open.
   */
  readonly answer?: (question: QuestionView) => Answer | undefined;
  /** Whether an operator can be asked, on a terminal at stdin and stderr. Default: no. */
  readonly interactive?: boolean;
  /** Reads what was typed for a moment. Default: the parser of this program. */
  readonly readMoment?: MomentReader;
}

/**
 * Shows a run as lines: what happens goes to stderr, one line for each thing, nothing is ever overwritten but
 * a progress line on a terminal; the summary goes to stdout. For pipes, CI, dumb terminals and screen
 * readers.
 *
 * SIGINT, SIGTERM and SIGHUP detach the run: it stays open and can be resumed.
 */
export async function showRunPlainly(
  port: RunPort,
  streams: Streams,
  options: PlainOptions = {},
): Promise<RunEnd> {
  const reporter = createReporter(streams);
  const interactive = options.interactive === true;
  const broken = Promise.withResolvers<never>();
  const leave = (why: string) => void port.detach(why).catch(broken.reject);
  const onSignal = (signal: NodeJS.Signals) => leave(leftBySignal(signal));
  for (const signal of SIGNALS) process.once(signal, onSignal);

  const help: AskingHelp = {
    now: () => nowOf(port.view()),
    fallback: () => fallbackLines(port.fallback()),
    readMoment: options.readMoment ?? momentReader,
  };
  let asked = '';
  let asking = new AbortController();
  let waiting: { readonly question: QuestionView; readonly since: number } | undefined;
  const onView = () => {
    const view = port.view();
    reporter.report(view);
    const key = questionKey(view.question);
    if (key === asked) return;
    asked = key;
    asking.abort();
    asking = new AbortController();
    waiting = undefined;
    // A run that goes on by itself needs no answer.
    if (view.question === undefined || (isBeside(view.question) && !interactive)) return;
    if (interactive || options.answer !== undefined)
      void meet(view.question, asking.signal).catch(broken.reject);
    else waiting = { question: view.question, since: performance.now() };
  };
  const describeWaiting = () => {
    if (waiting !== undefined) reporter.lines(describeQuestion(waiting.question, port.view(), 'nobody'));
    waiting = undefined;
  };

  const meet = async (question: QuestionView, signal: AbortSignal): Promise<void> => {
    const determined = options.answer?.(question);
    if (determined !== undefined && (await give(question, determined))) return;
    if (interactive) {
      const asker = openAsking(streams, signal);
      reporter.lines(describeQuestion(question, port.view(), 'operator'));
      try {
        for (;;) {
          const answer = await askLine(question, asker, help);
          // The question is still open, so it is the terminal that has ended.
          if (answer === 'gone') return signal.aborted ? undefined : leave(LEFT.inputEnded);
          if (answer === 'leave') return leave(LEFT.byOperator);
          asker.pause();
          if (await give(question, answer)) return;
        }
      } finally {
        asker.close();
      }
    }
    reporter.lines(describeQuestion(question, port.view(), 'nobody'));
    if (options.answer !== undefined) leave(`nobody was there to answer: ${question.prompt}`);
  };

  const give = async (question: QuestionView, answer: Answer): Promise<boolean> => {
    try {
      await port.answer(answer);
      reporter.lines([`answered: ${show(labelOf(question, answer))}`]);
      return true;
    } catch (error) {
      const { shortMessage, hints } = failureOf(error);
      reporter.lines([`refused: ${show(shortMessage)}`, ...hints.map((hint) => `  hint: ${show(hint)}`)]);
      return false;
    }
  };

  const unsubscribe = port.subscribe(onView);
  const tick = setInterval(() => {
    reporter.report(port.view());
    if (waiting !== undefined && performance.now() - waiting.since >= PATIENCE_MS) describeWaiting();
  }, 1000);
  try {
    onView();
    const end = await Promise.race([port.ended, broken.promise]);
    reporter.report(port.view());
    describeWaiting();
    reporter.end();
    await new Promise<void>((resolve) =>
      streams.stdout.write(formatSummary(port.view(), end), () => resolve()),
    );
    return end;
  } finally {
    asking.abort();
    unsubscribe();
    clearInterval(tick);
    for (const signal of SIGNALS) process.off(signal, onSignal);
  }
}

/** A short name for an answer: its option, its way to close a follow-up, or just that it was given. */
function labelOf(question: QuestionView, { event, id }: Answer): string {
  const followUp = question.kind === 'followUps' ? question.open.find((one) => one.id === id) : undefined;
  const options =
    question.kind === 'followUps' && followUp !== undefined ? waysOf(question, followUp) : question.options;
  const label = options.find((option) => option.event === event)?.label ?? 'given';
  return followUp === undefined ? label : `${followUp.subject}: ${label}`;
}

function isBeside(question: QuestionView): boolean {
  return question.kind === 'choice' && question.beside === true;
}

/** How long another process has to answer a question before it is described. */
const PATIENCE_MS = 500;

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Longest row of a script that is printed whole. */
const LONGEST_ROW = 4000;

/** The fallback script as lines for a terminal: as it is on disk, but unable to control the terminal. */
export function fallbackLines(fallback: string): string[] {
  return fallback.split('\n').map((row) => show(row, LONGEST_ROW));
}
