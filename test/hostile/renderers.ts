import { Writable } from 'node:stream';
import { errorFrom } from '../../src/base/errors.ts';
import type { Failure } from '../../src/base/failure.ts';
import { printableJson } from '../../src/base/text.ts';
import { printError } from '../../src/cli/print-error.ts';
import { printableYaml } from '../../src/cli/printable-yaml.ts';
import { printFacts } from '../../src/commands/service/print-facts.ts';
import { describeFollowUp, describeQuestion } from '../../src/plain/describe-question.ts';
import { createReporter, fallbackLines } from '../../src/plain/show-run-plainly.ts';
import { formatSummary } from '../../src/plain/summary.ts';
import { formatTable } from '../../src/plain/table.ts';
import { refusalOf } from '../../src/platform/problem.ts';
import { problemError, readProblem } from '../../src/service/problem.ts';
import { firstFrame } from '../../src/tui/first-frame.ts';
import { glyphsFor } from '../../src/tui/glyphs.ts';
import { layOut } from '../../src/tui/screens/run/layout.ts';
import { firstState } from '../../src/tui/screens/run/ui-state.ts';
import { waysOf } from '../../src/view/follow-up-words.ts';
import type { RunView } from '../../src/view/run-view.ts';
import { followUpLines, followUpRow } from '../../src/view/view-follow-ups.ts';
import { viewFact } from '../../src/view/view-outcome.ts';
import { HOSTILE_KINDS, hostileView } from '../tui/hostile-views.ts';
import { textIn } from '../tui/shown.ts';

/** One way by which text reaches a reader: every place in it is filled with the text. */
export interface Renderer {
  readonly name: string;
  /** Places of the text in what is rendered. */
  readonly fields: number;
  /**
   * It takes every so manyth text: all of them where it is the first to show a field, some where it differs
   * little from another.
   */
  readonly share: number;
  /** Written without colour, so that not one escape sequence has a right to be there. */
  readonly render: (text: string) => string;
}

/** What an operator sees and reads: the screen, the lines, the errors, the tables. */
export const RENDERERS: readonly Renderer[] = [
  ...HOSTILE_KINDS.map((kind, at) =>
    of(`the screen with a question of kind ${kind}`, kind, onScreen, at === 0 ? 1 : 7),
  ),
  ...HOSTILE_KINDS.map((kind) => of(`the lines with a question of kind ${kind}`, kind, inLines, 1)),
  {
    name: 'the fallback script on the screen and in the lines',
    fields: 2,
    share: 1,
    render: (text) => {
      const fallback = `${text}\n# ${text}`;
      const state = { ...firstState(viewOf(text, 'choice'), 0), overlay: 'fallback' as const, fallback };
      return `${textIn(layOut(state, SIZE, LOOK))}\n${fallbackLines(fallback).join('\n')}`;
    },
  },
  {
    name: 'errors with their hints',
    fields: 4,
    share: 1,
    render: (text) => {
      const failure: Failure = {
        code: text,
        shortMessage: text,
        hints: [text, text],
        evidence: { error: text },
      };
      return written((stream) => [
        printError(errorFrom(failure), stream),
        printError(new Error(text), stream),
        printError(text, stream),
      ]);
    },
  },
  {
    name: 'error answers of the service and the platform, in each of their forms',
    fields: 8,
    share: 1,
    render: (text) => {
      const bodies = [
        { error: text, description: text },
        { message: text, status: 412 },
        { msg: text },
        { [text]: text },
        text,
      ].map((body) => Buffer.from(JSON.stringify(body)));
      const headers = { 'retry-after': text };
      const errors = [...bodies, Buffer.from(text)].flatMap((body) =>
        [404, 412, 500].map((status) => problemError(readProblem(status, body, []), headers)),
      );
      const refusal = refusalOf(422, [{ title: text, detail: text }, { title: text }], { retryAfter: text });
      return written((stream) => [...errors, refusal].map((error) => printError(error, stream)));
    },
  },
  {
    name: 'tables and facts',
    fields: 4,
    share: 1,
    render: (text) => {
      const columns = [{ title: 'a' }, { title: 'b', gives: true }, { title: 'c', gives: 'start' as const }];
      const rows = [[text, text, text]];
      return written((stdout) => [
        stdout.write(`${formatTable(columns, rows)}\n${formatTable(columns, rows, { width: 60 })}\n`),
        printFacts({ stdout } as never, [['label', text]]),
        stdout.write(viewFact({ label: 'label', value: text }).value),
      ]);
    },
  },
  {
    name: 'the follow-ups',
    fields: 8,
    share: 1,
    render: (text) => {
      const followUp = {
        id: text,
        kind: 'rebind' as const,
        what: text,
        subject: text,
        owner: text,
        commands: [text],
      };
      const context = { instance: text, runId: text, runbook: text, now: new Date(0), operator: text };
      const closed = { how: 'hand' as const, text, at: text, evidence: { [text]: text } };
      return [followUp, { ...followUp, closed }]
        .flatMap((one) => followUpLines(followUpRow({ ...one, since: text } as never, context)))
        .join('\n');
    },
  },
];

/** JSON that a program reads, and that a person may look at in a terminal. */
export function jsonOf(text: string): string {
  return `${printableJson({ text, [text]: [text, { [`a${text}`]: text }] })}\n${printableJson(text)}\n`;
}

/** YAML of the same. */
export function yamlOf(text: string): string {
  return printableYaml({ text, [text]: [text, { [`a${text}`]: text }] });
}

const SIZE = { columns: 140, rows: 60 };
const LOOK = { glyphs: glyphsFor({ LANG: 'C.UTF-8' }), colour: false };
type Kind = (typeof HOSTILE_KINDS)[number];

function of(
  name: string,
  kind: Kind,
  render: (view: RunView, text: string) => string,
  share: number,
): Renderer {
  return {
    name,
    share,
    fields: leavesOf(hostileView('?', kind)),
    render: (text) => render(viewOf(text, kind), text),
  };
}

/** The prose is a file of the operator's own, and of the size of one. */
function viewOf(text: string, kind: Kind): RunView {
  const view = hostileView(text, kind);
  return text.length < 10_000 ? view : { ...view, prose: hostileView(text.slice(0, 10_000), kind).prose };
}

function onScreen(view: RunView): string {
  const frame = firstFrame({ ...SIZE, env: { NO_COLOR: '1' }, note: view.title, ...view });
  return `${textIn(layOut(firstState(view, 0), SIZE, LOOK))}\n${frame.replace(FRAME, '')}`;
}

/** What the first frame is made of besides text. */
const FRAME = /\u001b\[(?:\?1049h|\?25l|2J|H|(?:[0-27;]*|4|2[247])m)|\r\n/gu;

function inLines(view: RunView): string {
  const { question } = view;
  return written((stderr) => {
    const reporter = createReporter({ stderr: stderr as never, env: {} }, () => 0);
    reporter.report({ ...view, followUps: [], log: [] });
    reporter.report(view);
    if (question !== undefined)
      for (const reader of ['operator', 'nobody'] as const)
        reporter.lines(describeQuestion(question, view, reader));
    if (question?.kind === 'followUps')
      for (const followUp of question.open)
        reporter.lines(describeFollowUp(followUp, waysOf(question, followUp)));
    for (const how of ['ended', 'paused', 'detached'] as const)
      stderr.write(formatSummary(view, { how, exitCode: 1 }));
  });
}

function written(write: (stream: Writable) => unknown): string {
  let all = '';
  const stream = new Writable({
    decodeStrings: false,
    write: (chunk, _encoding, done) => {
      all += String(chunk);
      done();
    },
  });
  write(stream);
  return all;
}

/** How many texts something is made of. */
function leavesOf(value: unknown): number {
  if (typeof value === 'string') return 1;
  if (typeof value !== 'object' || value === null) return 0;
  return Object.values(value).reduce((sum: number, one) => sum + leavesOf(one), 0);
}
