import { optionKey, type Question } from '../../../machines/parts/question.ts';
import type { ExitCode } from '../../base/errors.ts';
import { readable } from '../../base/format.ts';
import { printableJson } from '../../base/text.ts';
import type { CommandContext } from '../../cli/context.ts';
import { isForPeople, type ResultOf } from '../../cli/print-result.ts';

/** Where a run was left, and why. */
export interface Waiting {
  readonly runId: string;
  readonly why: string;
  readonly exitCode: ExitCode;
  /** What is true of it from now on, in one line. */
  readonly after: string;
  /** The question that it stands at; none where it was left for another reason. */
  readonly question: Question | undefined;
}

/** The last words of a run that nobody here can carry on, on stderr; for programs in the form of an error. */
export function printWaiting(context: CommandContext, waiting: Waiting): void {
  const { runId, why, exitCode, after, question } = waiting;
  const message = `the run waits: ${why}`;
  if (isForPeople(context)) {
    context.stderr.write(`lifeboat: ${readable(message, 2000)}\nhint: ${after}\n`);
    return;
  }
  const error: ResultOf<'error'> = {
    code: 'run.waits',
    message,
    hints: [after],
    runId,
    ...(question === undefined ? {} : { question: asked(question) }),
    exit: exitCode,
  };
  context.stderr.write(`${printableJson({ schema: 'lifeboat.error/1', ...error })}\n`);
}

function asked(question: Question): NonNullable<ResultOf<'error'>['question']> {
  const { kind, prompt, options } = question;
  return {
    kind,
    prompt,
    ...(question.kind === 'typed-name' ? { expected: question.expected } : {}),
    ...(question.kind === 'time' ? { earliest: question.earliest, latest: question.latest } : {}),
    options: options.map(({ event, label, recommended, disabled }) => ({
      event: optionKey(event),
      label,
      ...(recommended === true ? { recommended } : {}),
      ...(disabled === undefined ? {} : { disabled }),
    })),
  };
}
