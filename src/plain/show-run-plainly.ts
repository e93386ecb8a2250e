import process from 'node:process';
import { failureOf } from '../base/errors.ts';
import { formatBytes, formatSpan } from '../base/format.ts';
import { show } from '../base/text.ts';
import { stillOpen, waysOf } from '../view/follow-up-words.ts';
import { type MomentReader, momentReader, nowOf } from '../view/moment-reader.ts';
import { questionKey } from '../view/question-words.ts';
import { type Answer, LEFT, leftBySignal, type RunEnd, type RunPort } from '../view/run-port.ts';
import type { FollowUpView, LogLine, QuestionView, RailStep, RunView, Tone } from '../view/run-view.ts';
import { openAsking } from './ask.ts';
import { type AskingHelp, askLine } from './ask-question.ts';
import { newsOfApproval } from './describe-approval.ts';
import { describeQuestion, followUpLine } from './describe-question.ts';
import { formatSummary } from './summary.ts';
import { columnsOf, type Streams, wantsColour } from './terminal.ts';
import { cells, cutText } from './width.ts';

export interface PlainOptions {
  /**
   * The answers that the flags decide. Undefined leaves the question to the operator, or, without one, ends
   * this process's part of the run. Without this function and without an operator, another process has to
   * answer, and a question is described only when it stays open.
   */
  readonly answer?: (question: QuestionView) => Answer | undefined;
  /** An operator can be asked, on a terminal at stdin and stderr. Default: no. */
  readonly interactive?: boolean;
  /** Default: the parser of this program. */
  readonly readMoment?: MomentReader;
}

/**
 * Events go to stderr, one line each; only a progress line on a terminal is overwritten. The summary goes to
 * stdout. For pipes, CI, dumb terminals and screen readers.
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
          // The question is still open, so the terminal has ended.
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

/** Its option, its way to close a follow-up, or just that it was given. */
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

/** For another process to answer, before a question is described. */
const PATIENCE_MS = 500;

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Longer than any row of a script. */
const LONGEST_ROW = 4000;

/** As it is on disk, but unable to control the terminal. */
export function fallbackLines(fallback: string): string[] {
  return fallback.split('\n').map((row) => show(row, LONGEST_ROW));
}

/** Turns views of a run into lines that say what is new. */
interface Reporter {
  report(view: RunView): void;
  lines(texts: readonly string[]): void;
  /** Ends an open progress line. */
  end(): void;
}

/** Between two progress lines in a file or a pipe. A terminal rewrites one line every second. */
const PROGRESS_MS = 15_000;
const REWRITE_MS = 1000;

export function createReporter(
  { stderr, env }: Pick<Streams, 'stderr' | 'env'>,
  now: () => number = () => performance.now(),
): Reporter {
  const colour = wantsColour(stderr, env);
  const rewrites = stderr.isTTY === true && env['TERM'] !== 'dumb' && env['INK_SCREEN_READER'] !== 'true';
  let last: RunView | undefined;
  /** By the newest line of the log. */
  let place: string | undefined;
  /** About the end of the whole run: that its time is known, or that it is late. */
  let expectedSaid: string | undefined;
  let open = 0;
  let progressAt = Number.NEGATIVE_INFINITY;
  let progressText = '';

  const end = () => {
    if (open > 0) stderr.write(`\r${' '.repeat(open)}\r`);
    open = 0;
  };
  const line = (text: string, tone: Tone = 'plain') => {
    end();
    stderr.write(`${paint(text, tone, colour)}\n`);
  };
  const progress = (view: RunView) => {
    const text = progressOf(view);
    const wait = rewrites ? REWRITE_MS : PROGRESS_MS;
    const isNew = view.activity?.title !== last?.activity?.title;
    if (text === '' || text === progressText || (!isNew && now() - progressAt < wait)) return;
    progressAt = now();
    progressText = text;
    if (!rewrites) return line(text);
    const shown = cutText(text, columnsOf(stderr) - 1);
    const width = cells(shown);
    stderr.write(`\r${shown}${' '.repeat(Math.max(0, open - width))}`);
    open = width;
  };

  const report = (view: RunView) => {
    if (last === undefined)
      line(`run ${show(view.runId)}: ${show(view.title)}, ${show(view.instance)}, ${view.mode}`);
    for (const entry of newEntries(last?.log ?? [], view.log)) {
      // A sentence of the journal already says that something failed.
      const word = entry.tone === 'bad' ? '' : WORDS[entry.tone];
      line(`${show(entry.at)} ${word}${show(entry.text)}`, entry.tone);
      place = entry.next ?? place;
    }
    for (const text of newsOfSteps(last?.rail, view.rail)) line(text);
    for (const text of newsOfFollowUps(last?.followUps, view.followUps)) line(text);
    for (const text of newsOfApproval(last?.question, view.question)) line(text);
    if (view.banner !== undefined && view.banner.text !== last?.banner?.text) {
      line(`${WORDS[view.banner.tone]}${show(view.banner.text)}`, view.banner.tone);
      for (const hint of view.banner.hints) line(`  hint: ${show(hint)}`);
    }
    const title = view.activity?.title;
    if (title !== undefined && title !== last?.activity?.title && title !== place)
      line(`now: ${show(title)}${expectedOf(view)}`);
    const { runExpected } = view.activity ?? {};
    const [said] = runExpected?.split(' ') ?? [];
    if (runExpected !== undefined && said !== expectedSaid) line(`run: ${show(runExpected)}`);
    expectedSaid = said ?? expectedSaid;
    progress(view);
    last = view;
  };
  const lines = (texts: readonly string[]) => {
    for (const text of texts) line(text);
  };
  return { report, end, lines };
}

/** The current step, and skipped steps before it. Numbers count the steps that this run takes. */
function newsOfSteps(before: RunView['rail'] | undefined, after: RunView['rail']): string[] {
  const named = (step: RailStep) => `step ${after.indexOf(step) + 1} of ${after.length}`;
  const stateBefore = (id: string) => before?.find((step) => step.id === id)?.state;
  const skipped = after.filter(
    ({ id, state }) => before !== undefined && state === 'skipped' && stateBefore(id) !== 'skipped',
  );
  const current = after.find(({ state }) => state === 'current');
  const was = current === undefined ? undefined : stateBefore(current.id);
  const again = was === 'done' || was === 'open' || was === 'skipped' ? 'back to ' : '';
  return [
    ...skipped.map((step) => {
      const why = step.note === undefined ? '' : ` (${show(step.note)})`;
      return `${named(step)} is not needed: ${show(step.title)}${why}`;
    }),
    ...(current === undefined || was === 'current'
      ? []
      : [`${again}${named(current)}: ${show(current.title)}`]),
  ];
}

/** Since the last look, with the number of open ones. */
function newsOfFollowUps(
  before: readonly FollowUpView[] | undefined,
  after: readonly FollowUpView[],
): string[] {
  const news = after.flatMap((followUp) => {
    const known = before?.find(({ id }) => id === followUp.id);
    if (followUp.closed === undefined)
      return known === undefined ? [`follow-up: ${followUpLine(followUp)}`] : [];
    if (before === undefined || known?.closed !== undefined) return [];
    return [`follow-up closed: ${show(followUp.what)} (${show(followUp.closed.text)})`];
  });
  const left = stillOpen(after).length;
  return news.length === 0
    ? []
    : [...news, left === 0 ? 'all follow-ups are closed' : `follow-ups open: ${left}`];
}

/** As a word, since a line may be read without its colour. */
const WORDS: Readonly<Record<Tone, string>> = {
  plain: '',
  good: '',
  dim: '',
  warn: 'attention: ',
  bad: 'failed: ',
};

/** Since the last look; the log may have lost its oldest entries since then. */
function newEntries(before: readonly LogLine[], after: readonly LogLine[]): readonly LogLine[] {
  const same = (one: LogLine | undefined, other: LogLine | undefined) =>
    one?.at === other?.at && one?.text === other?.text;
  for (let lost = 0; lost < before.length; lost += 1) {
    const kept = before.slice(lost);
    if (kept.length <= after.length && kept.every((entry, at) => same(entry, after[at])))
      return after.slice(kept.length);
  }
  return after;
}

/** The usual time of the step, to follow the current activity. */
function expectedOf({ activity }: RunView): string {
  return activity?.expected === undefined ? '' : `, step: ${show(activity.expected)}`;
}

function progressOf(view: RunView): string {
  const words = progressWords(view);
  return words === '' ? '' : `${words}${expectedOf(view)}`;
}

function progressWords({ activity }: RunView): string {
  if (activity?.awaited !== undefined) return `  ${show(activity.awaited)}`;
  const progress = activity?.progress;
  if (progress === undefined) return '';
  switch (progress.kind) {
    case 'task':
      return `  status ${show(progress.status)}`;
    case 'wait':
      return `  looks again in ${formatSpan(progress.secondsLeft)}`;
    case 'bytes': {
      const { done, total, bytesPerSecond } = progress;
      const rate = bytesPerSecond === undefined ? '' : `, ${formatBytes(bytesPerSecond)}/s`;
      if (total === undefined || total <= 0) return `  ${formatBytes(done)}${rate}`;
      const percent = Math.floor(Math.min(1, done / total) * 100);
      return `  ${percent} %, ${formatBytes(done)} of ${formatBytes(total)}${rate}`;
    }
  }
}

const CODES: Readonly<Record<Tone, string>> = { plain: '', good: '32', warn: '1;33', bad: '1;31', dim: '2' };

function paint(text: string, tone: Tone, colour: boolean): string {
  const code = CODES[tone];
  return colour && code !== '' ? `\u001b[${code}m${text}\u001b[0m` : text;
}
