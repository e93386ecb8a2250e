import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { formatSpan } from '../base/format.ts';
import { Secret } from '../base/secret.ts';
import { show } from '../base/text.ts';
import { waysOf } from '../view/follow-up-words.ts';
import type { MomentReader } from '../view/moment-reader.ts';
import { BREAK_GLASS, QUIET_MS } from '../view/question-words.ts';
import type { Answer } from '../view/run-port.ts';
import type { FollowUpView, QuestionOption, QuestionView } from '../view/run-view.ts';
import { formatHere } from '../view/zone.ts';
import { describeFollowUp } from './describe-question.ts';
import type { Streams } from './terminal.ts';

/** Reads lines from the operator, one at a time. */
export interface Asker {
  /** The next line, without its end; nothing when the terminal has ended or the question is gone. */
  line(prompt: string, how?: 'shown' | 'hidden'): Promise<string | undefined>;
  say(text: string): void;
  /** Drops what is typed until the next `line`. */
  pause(): void;
  close(): void;
}

/** Asks the terminal to mark where a paste begins and ends, and no longer to. */
const [PASTES_MARKED, PASTES_PLAIN] = ['\u001b[?2004h', '\u001b[?2004l'];

/** Asks for one line; undefined when the terminal is closed or the signal comes first. */
export async function typedLine(
  streams: Streams,
  prompt: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  const asker = openAsking(streams, signal);
  try {
    return await asker.line(prompt);
  } finally {
    asker.close();
  }
}

/**
 * Opens the terminal for questions. Lines are read by readline, which leaves editing to the terminal's habits
 * and keeps a hidden line off the screen. Ends with `signal`.
 */
export function openAsking({ stdin, stderr, env }: Streams, signal: AbortSignal): Asker {
  let hidden = false;
  const output = new Writable({
    write: (chunk, _encoding, done) => {
      if (!hidden) stderr.write(chunk);
      done();
    },
  });
  const reader = createInterface({ input: stdin, output, terminal: true, historySize: 0 });
  let taker: ((line: string | undefined) => void) | undefined;
  let pasting = false;
  let lastHeard = 0;
  const interrupt = () => process.kill(process.pid, 'SIGINT');
  const hear = (_text: unknown, key?: { readonly name?: string; readonly sequence?: string }) => {
    lastHeard = performance.now();
    // Readline takes Ctrl-C right after Escape for a key with Alt, which means nothing.
    if (/^\u001b+\u0003$/u.test(key?.sequence ?? '')) interrupt();
    if (key?.name === 'paste-start' || key?.name === 'paste-end') pasting = key.name === 'paste-start';
  };
  stdin.on('keypress', hear);
  const take = (line: string | undefined) => {
    // A paste never submits: what it ended stands in the line again, and waits for a key that somebody
    // presses.
    if (pasting && line !== undefined) return reader.write(line);
    const current = taker;
    taker = undefined;
    current?.(line);
  };
  reader.on('line', take);
  reader.on('close', () => take(undefined));
  // Ctrl-C is a signal in every other mode of the terminal; readline only reports it.
  reader.on('SIGINT', interrupt);
  const marksPastes = env['TERM'] !== 'dumb';
  if (marksPastes) stderr.write(PASTES_MARKED);
  const close = () => reader.close();
  signal.addEventListener('abort', close, { once: true });
  let closed = signal.aborted;
  reader.on('close', () => {
    closed = true;
    stdin.off('keypress', hear);
    if (marksPastes) stderr.write(PASTES_PLAIN);
  });
  if (signal.aborted) close();

  return {
    line: async (prompt, how = 'shown') => {
      hidden = true;
      await quiet(() => lastHeard);
      if (closed) return undefined;
      Object.assign(reader, { line: '', cursor: 0 });
      hidden = false;
      stderr.write(prompt);
      hidden = how === 'hidden';
      const line = await new Promise<string | undefined>((resolve) => {
        taker = resolve;
      });
      if (how === 'hidden') stderr.write('\n');
      hidden = false;
      return line;
    },
    say: (text) => stderr.write(`${text}\n`),
    pause: () => {
      hidden = true;
    },
    close,
  };
}

/**
 * Resolves when nothing was typed for `QUIET_MS`. What comes before a prompt could be read, from a key that
 * is held down or a paste of several lines, belongs to something else and is dropped.
 */
async function quiet(lastHeard: () => number): Promise<void> {
  const began = performance.now();
  for (;;) {
    const left = Math.max(began, lastHeard()) + QUIET_MS - performance.now();
    if (left <= 0) return;
    // After the timer Node reads what has come, and then calls the immediate: a key that waited while the
    // process was held up is heard before the next look.
    await new Promise((resolve) => setTimeout(() => setImmediate(resolve), left));
  }
}

/** What a question may need besides its words. */
export interface AskingHelp {
  /** The run's clock. */
  readonly now: () => Date;
  /** The fallback script, row by row, printable. */
  readonly fallback: () => readonly string[];
  readonly readMoment: MomentReader;
}

/** Asks until there is an answer, the operator leaves, or the question is gone. */
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

/** Whether a number alone is an answer; where words are typed, it takes a slash before it. */
function isNumbered({ kind }: QuestionView): boolean {
  return kind === 'choice' || kind === 'followUps';
}

/** What the numbers stand for, in their order: the follow-ups, then the options. */
function rowsOf(question: QuestionView) {
  const followUps =
    question.kind === 'followUps'
      ? question.open.map((one) => ({ kind: 'followUp' as const, question, followUp: one }))
      : [];
  return [...followUps, ...question.options.map((option) => ({ kind: 'option' as const, option }))];
}

/** Shows one follow-up in full, then the ways to close it by number; an empty line leads back. */
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
  if (text !== '' && question?.kind === 'typed-name' && option.event === BREAK_GLASS.event)
    return breakGlass(question, text, asker);
  if (text !== '') return { event: option.event, text };
  asker.say('nothing was typed: nothing happens');
  return undefined;
}

/** The reason alone breaks nothing: the name is typed as ever. */
async function breakGlass(
  question: QuestionView & { kind: 'typed-name' },
  reason: string,
  asker: Asker,
): Promise<Answer | undefined> {
  const name = show(question.expected);
  const line = await asker.line(`type ${name} to go on WITHOUT a second person: `);
  if (line === question.expected) return { event: question.event, typed: line, breakGlass: reason };
  asker.say('that is not the name: nothing happens');
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
  asker.say(question.kind === 'typed-name' ? 'that is not the name: nothing happens' : 'nothing was chosen');
  return undefined;
}

/**
 * What was typed is only read; the moment is taken by a word of its own, after it was shown in both zones.
 */
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
