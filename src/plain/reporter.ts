import { formatBytes, formatSpan } from '../base/format.ts';
import { show } from '../base/text.ts';
import { stillOpen } from '../view/follow-up-words.ts';
import type { FollowUpView, LogLine, RailStep, RunView, Tone } from '../view/run-view.ts';
import { newsOfApproval } from './describe-approval.ts';
import { followUpLine } from './describe-question.ts';
import { columnsOf, type Streams, wantsColour } from './terminal.ts';
import { cells, cutText } from './width.ts';

/** Turns successive views of a run into lines that say what is new. */
export interface Reporter {
  report(view: RunView): void;
  lines(texts: readonly string[]): void;
  /** Ends an open progress line. */
  end(): void;
}

/** Time between two progress lines in a file or a pipe. A terminal rewrites one line every second. */
const PROGRESS_MS = 15_000;
const REWRITE_MS = 1000;

export function createReporter(
  { stderr, env }: Pick<Streams, 'stderr' | 'env'>,
  now: () => number = () => performance.now(),
): Reporter {
  const colour = wantsColour(stderr, env);
  const rewrites = stderr.isTTY === true && env['TERM'] !== 'dumb' && env['INK_SCREEN_READER'] !== 'true';
  let last: RunView | undefined;
  /** The current place in the run, as the newest line of the log names it. */
  let place: string | undefined;
  /** What was said about when the whole run ends: that the time is known, or that it is late. */
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

/**
 * The current step, and the steps that were skipped on the way. Numbers count the steps that this run takes.
 */
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

/** The follow-ups opened and closed since the last look, and how many are open. */
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

/** The tone as a word, since a line may be read without its colour. */
const WORDS: Readonly<Record<Tone, string>> = {
  plain: '',
  good: '',
  dim: '',
  warn: 'attention: ',
  bad: 'failed: ',
};

/** The entries appended since the last look; the log may have lost its oldest ones since then. */
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

/** How long the step usually takes, to follow the current activity. */
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
