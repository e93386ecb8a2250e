import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { Secret } from '../secret.ts';
import { show } from '../text.ts';
import type { RunAnswer } from '../view/run-port.ts';
import type { QuestionOption, QuestionView } from '../view/run-view.ts';
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

/** What was typed before a prompt could be read belongs to something else and is dropped. */
const SETTLE_MS = 150;

/**
 * Opens the terminal for questions. Lines are read by readline, which leaves editing to the terminal's habits and keeps a
 * hidden line off the screen. Ends with `signal`.
 */
export function openAsking({ stdin, stderr }: Streams, signal: AbortSignal): Asker {
  let hidden = false;
  const output = new Writable({
    write: (chunk, _encoding, done) => {
      if (!hidden) stderr.write(chunk);
      done();
    },
  });
  const reader = createInterface({ input: stdin, output, terminal: true, historySize: 0 });
  let taker: ((line: string | undefined) => void) | undefined;
  const take = (line: string | undefined) => {
    const current = taker;
    taker = undefined;
    current?.(line);
  };
  reader.on('line', take);
  reader.on('close', () => take(undefined));
  // Ctrl-C is a signal in every other mode of the terminal; readline only reports it.
  reader.on('SIGINT', () => process.kill(process.pid, 'SIGINT'));
  const close = () => reader.close();
  signal.addEventListener('abort', close, { once: true });
  let closed = signal.aborted;
  reader.on('close', () => {
    closed = true;
  });
  if (signal.aborted) close();

  return {
    line: async (prompt, how = 'shown') => {
      hidden = true;
      await settled();
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

function settled(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
}

/** Asks until there is an answer, the operator leaves, or the question is gone. */
export async function askLine(question: QuestionView, asker: Asker): Promise<RunAnswer | 'leave' | 'gone'> {
  for (;;) {
    const line = await asker.line(
      question.kind === 'secret' ? 'secret: ' : '> ',
      question.kind === 'secret' ? 'hidden' : 'shown',
    );
    if (line === undefined) return 'gone';
    const command = question.kind === 'choice' ? line.trim() : /^\/(\w+)$/u.exec(line)?.[1];
    if (command === 'q') return 'leave';
    const option = command === undefined ? undefined : question.options[Number(command) - 1];
    const answer =
      option === undefined ? await direct(question, line, asker) : await withOption(option, asker);
    if (answer !== undefined) return answer;
  }
}

async function withOption(option: QuestionOption, asker: Asker): Promise<RunAnswer | undefined> {
  if (option.disabled !== undefined) {
    asker.say(`not now: ${show(option.disabled)}`);
    return undefined;
  }
  if (option.needs === undefined) return { event: option.event };
  const text = (await asker.line(`${show(option.needs.prompt)}: `))?.trim() ?? '';
  if (text !== '') return { event: option.event, text };
  asker.say(`nothing was given, so nothing happens`);
  return undefined;
}

async function direct(question: QuestionView, line: string, asker: Asker): Promise<RunAnswer | undefined> {
  if (question.kind === 'typed-name' && line === question.expected)
    return { event: question.event, typed: line };
  if (question.kind === 'secret' && line !== '') return secretAnswer(question, line, asker);
  asker.say(question.kind === 'typed-name' ? 'that is not the name: nothing happens' : 'nothing was chosen');
  return undefined;
}

async function secretAnswer(
  question: QuestionView & { kind: 'secret' },
  line: string,
  asker: Asker,
): Promise<RunAnswer | undefined> {
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
